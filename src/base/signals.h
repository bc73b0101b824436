/* SPDX-License-Identifier: MIT */
/*
 * signals: what a signal that ends the process has to clean up first.
 *
 * Every signal that would end the process, and that a program may catch, removes the temporary
 * file and then ends the process as it would have done: HUP, INT, QUIT, TERM, PIPE, ALRM, USR2 and
 * their like, the real-time ones too. Those that were ignored, or that a preloaded library had
 * caught, when the process started stay as they are. XFSZ is ignored. Those that report
 * a defect (SEGV, BUS, FPE, ILL, ABRT, TRAP, SYS) keep their default action and its core.
 *
 * The handler works in the main thread alone. What it reads is changed between signals_block and signals_restore:
 * by the main thread with these signals blocked, by another one while the handler waits for it; once a handler
 * has begun no other thread gets past signals_block. A thread that signals_thread started never gets one of these
 * signals; from a thread that the driver started itself the handler passes the signal on.
 *
 * USR1 never ends the process. Every thread blocks it, so that it waits for the one thread that takes it by
 * signals_wait, however late that thread begins; several that come at once are one.
 */
#ifndef GPUHIST_SIGNALS_H
#define GPUHIST_SIGNALS_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/*
 * The files to remove, or "": the main thread's, and that of the one other thread that writes one. Each is changed by
 * its thread, between signals_block and signals_restore.
 */
enum { SIGNALS_MAIN, SIGNALS_OTHER, SIGNALS_FILES };
extern char signals_file[SIGNALS_FILES][PATH_MAX + 64];

/* Which of them is the calling thread's. */
int signals_slot(void);

/* Call once, in the main thread, before any other thread is started. */
void signals_init(void);

/*
 * Holds the signals back; *old is for signals_restore. Any thread; between the two it waits for nothing but system
 * calls, because a handler may wait for it.
 */
void signals_block(sigset_t *old);
void signals_restore(const sigset_t *old);

/* pthread_create, of a thread that these signals do not interrupt. */
int signals_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* The same, of the one thread that calls signals_wait. */
int signals_waiter(pthread_t *thread, void *(*run)(void *), void *arg);

/*
 * Waits so many seconds at most, and returns sooner after another process's SIGUSR1, which is true, or signals_wake; a
 * time that is over is no wait. True also for one that came before. May return false too soon.
 */
bool signals_wait(double seconds);

/* Ends the wait of that thread, or its next one. Any thread, before the waiter is joined. */
void signals_wake(pthread_t thread);

#endif
