/* SPDX-License-Identifier: MIT */
/*
 * signals: cleans up before a signal ends the process.
 *
 * On HUP, INT, QUIT, TERM and PIPE, remove the temporary files and then let the signal end the
 * process as usual. If one of these was ignored when the process started, or caught by a preloaded
 * library, leave it alone. XFSZ is ignored. All other signals keep their default action.
 *
 * The handler does its work only in the main thread. Its data may change only between signals_block
 * and signals_restore: in the main thread, which has the signals blocked then, or in another
 * thread, for which the handler waits. Once a handler has begun, no other thread gets past
 * signals_block. Threads started by signals_thread never receive these signals; in a thread started
 * by a library, the handler passes the signal to the main thread.
 *
 * INT and TERM print the last words, if any, after removing the files.
 *
 * After signals_finish, the first INT or TERM is only recorded.
 *
 * USR1 never ends the process. Every thread blocks it, so it stays pending until the thread that
 * calls signals_wait takes it, however late that thread starts; several pending ones count as one.
 */
#ifndef GPUHIST_SIGNALS_H
#define GPUHIST_SIGNALS_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/*
 * Files to remove, or "": the main thread's, and the file of the only other thread that writes one.
 * Each thread changes its own entry, between signals_block and signals_restore.
 */
enum { SIGNALS_MAIN, SIGNALS_OTHER, SIGNALS_FILES };
extern char signals_file[SIGNALS_FILES][PATH_MAX + 64];

/* Index of the calling thread's file. */
int signals_file_index(void);

/* Call it once, in the main thread, before any other thread starts. */
void signals_init(void);

/*
 * Set the line that is written to stderr, if that is possible without waiting, when INT or TERM
 * ends the process; NULL: nothing. It must stay valid until the next call.
 */
void signals_last_words(const char *line);

/*
 * For --finish: from now on the first INT or TERM does not end the process; the second does, unless
 * it comes within a tenth of a second. On INT, begin a new line on `terminal`, which shows ^C by
 * then; -1: no terminal. Call it once, in the main thread, before any other thread starts. Return
 * -1 if no pipe is available; errno says why.
 */
int signals_finish(int terminal);

/* Descriptor that becomes readable with the signal of --finish; -1 without --finish. */
extern int signals_finish_fd;

/*
 * Has the INT or TERM of --finish arrived? If the same Ctrl-C also ends the writer of a stream,
 * this is true by the time the end of the stream is read. Any thread may call it.
 */
bool signals_finished(void);

/* The number of that signal, or 0 if it has not been handled yet. Any thread may call it. */
int signals_finish_number(void);

/* The name of that signal for messages, or "a signal" if it has not been handled yet. */
const char *signals_finish_name(void);

/*
 * Like signals_finished, for a thread that has seen an end of input that the signal may have
 * caused. Between delivery and handler the signal is invisible, so with --finish this waits a
 * moment.
 */
bool signals_finished_soon(void);

/*
 * Hold the signals back; *old is for signals_restore. Any thread. Between the two calls the thread
 * must wait only for system calls, because a handler may be waiting for it.
 */
void signals_block(sigset_t *old);
void signals_restore(const sigset_t *old);

/* Like pthread_create, for a thread that these signals never interrupt. */
int signals_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/*
 * Wait for at most `seconds`, or not at all if they are 0 or less. Return true if another process
 * has sent SIGUSR1, even before the call; false after the time, after signals_wake, or spuriously.
 * Only one thread, started by signals_thread, may call it.
 */
bool signals_wait(double seconds);

/* End the thread's current or next signals_wait. Any thread, until the waiter is joined. */
void signals_wake(pthread_t thread);

#endif
