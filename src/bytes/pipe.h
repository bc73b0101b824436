/* SPDX-License-Identifier: MIT */
/* pipe: enlarges pipes, and detects streams of messages. No function needs a lock. */
#ifndef GPUHIST_PIPE_H
#define GPUHIST_PIPE_H

#include <stddef.h>

#include "base/fail.h"

/*
 * Make a pipe as large as the system allows: 1 MiB by default. If the system refuses, only speed
 * is lost. Never shrink a pipe, and ignore descriptors that are no pipe.
 */
void pipe_widen(int fd);

/* Return the number of bytes that a stream holds now, or 0 if it is unknown. */
size_t pipe_holds(int fd);

/*
 * Does this pipe, which is not empty, hold packets? A writer with O_DIRECT makes them (pipe(7));
 * the flags of the reading end do not show that, and a read takes one packet at most. Take nothing
 * out of the pipe. -1: the check failed with errno.
 */
int pipe_holds_packets(int fd);

/*
 * Refuse a socket that transfers messages: if a message is longer than a read, the rest of it is
 * lost, and its length is not known beforehand. -1: it is such a socket, or cannot be examined.
 * Accept descriptors that are no socket.
 */
int pipe_check_socket(int fd, const char *name, struct fail *fail);

#endif
