/*
 * signals: what a signal that ends the process has to clean up first.
 *
 * Every signal that would end the process, and that a program may catch, removes the temporary
 * file and then ends the process as it would have done: HUP, INT, QUIT, TERM, PIPE, ALRM, USR2 and
 * their like, the real-time ones too. Those that were ignored, or that a preloaded library had
 * caught, when the process started stay as they are. USR1 and XFSZ are ignored. Those that report
 * a defect (SEGV, BUS, FPE, ILL, ABRT, TRAP, SYS) keep their default action and its core.
 *
 * The handler works in the main thread alone: what it reads is changed there, with these signals
 * blocked. A thread that signals_thread started never gets one; from a thread that the driver
 * started itself the handler passes the signal on.
 */
#ifndef GPUHIST_SIGNALS_H
#define GPUHIST_SIGNALS_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>

/* The file to remove, or "". Main thread only, between signals_block and signals_restore. */
extern char signals_file[PATH_MAX + 64];

/* Call once, in the main thread, before any other thread is started. */
void signals_init(void);

/* Holds the signals back; *old is for signals_restore. */
void signals_block(sigset_t *old);
void signals_restore(const sigset_t *old);

/* pthread_create, of a thread that these signals do not interrupt. */
int signals_thread(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
