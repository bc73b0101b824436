/* SPDX-License-Identifier: MIT */
/*
 * signals: what has to be cleaned up before a signal ends the process.
 *
 * HUP, INT, QUIT, TERM and PIPE remove the temporary file and then end the process as they would
 * have done without us. Those that were ignored when the process started, or that a preloaded
 * library had caught, stay as they are. XFSZ is ignored. All others keep their default action.
 *
 * The handler works in the main thread alone. What it reads is changed between signals_block and
 * signals_restore: by the main thread with these signals blocked, by another thread while the
 * handler waits for it. Once a handler has begun, no other thread gets past signals_block. A thread
 * that signals_thread started never receives one of these signals; in a thread that is not ours
 * the handler passes the signal to the main thread.
 *
 * INT and TERM print the last words, if there are any, when the files are removed.
 *
 * After signals_finish the first INT or TERM is only remembered.
 *
 * USR1 never ends the process. Every thread blocks it, so that it stays pending for the one thread
 * that takes it by signals_wait, however late that thread begins; several that arrive together
 * count as one.
 */
#ifndef GPUHIST_SIGNALS_H
#define GPUHIST_SIGNALS_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/*
 * The files to remove, or "": the main thread's, and that of the only other thread that writes one.
 * Each is changed by its thread, between signals_block and signals_restore.
 */
enum { SIGNALS_MAIN, SIGNALS_OTHER, SIGNALS_FILES };
extern char signals_file[SIGNALS_FILES][PATH_MAX + 64];

/* The index of the calling thread's file. */
int signals_slot(void);

/* Call once, in the main thread, before any other thread is started. */
void signals_init(void);

/*
 * What an INT or TERM that ends the process writes to stderr, if that can be written to without
 * waiting: a whole line, or NULL for nothing. It must stay valid until the next call.
 */
void signals_last_words(const char *line);

/*
 * For --finish: the first INT or TERM from now on ends nothing; the second ends the process, unless
 * it comes within a tenth of a second. Call it once, in the main thread, before any other thread is
 * started. -1: the system has no pipe; errno says why.
 */
int signals_finish(void);

/* The descriptor that can be read once the signal of --finish has come; -1 without --finish. */
extern int signals_finish_fd;

/*
 * Has the INT or TERM of --finish come? If one Ctrl-C ends the writer of a stream too, this is true
 * by the time that the stream's end is read. Any thread may call it.
 */
bool signals_finished(void);

/*
 * Like signals_finished, for a thread that has seen an end that the signal may have caused: between
 * the signal's delivery and its handler nothing shows it, so with --finish this waits a moment.
 */
bool signals_finished_soon(void);

/*
 * Holds the signals back; *old is for signals_restore. Any thread; between the two calls the thread
 * must wait for nothing but system calls, because a handler may be waiting for it.
 */
void signals_block(sigset_t *old);
void signals_restore(const sigset_t *old);

/* pthread_create, for a thread that these signals never interrupt. */
int signals_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/*
 * Waits for at most `seconds`, or not at all if they are 0 or less; only one thread may call it,
 * which signals_thread started. Returns true when another process has sent SIGUSR1, also before the
 * call; returns false when the time is over, after signals_wake, and sometimes too soon.
 */
bool signals_wait(double seconds);

/*
 * Ends the thread's current signals_wait, or its next one. Any thread may call it until the waiter
 * is joined.
 */
void signals_wake(pthread_t thread);

#endif
