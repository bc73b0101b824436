/* SPDX-License-Identifier: MIT */
/*
 * pipe: how much a pipe carries, and whether its content consists of messages. No function needs a
 * lock.
 */
#ifndef GPUHIST_PIPE_H
#define GPUHIST_PIPE_H

#include <stddef.h>

#include "base/fail.h"

/*
 * Asks the system to make a pipe as large as it allows: 1 MiB unless that was changed. If it
 * refuses, only speed is lost; a pipe that another process made larger is not made smaller, and a
 * descriptor that is no pipe is left alone.
 */
void pipe_widen(int fd);

/* How many bytes a stream holds that can be read now; 0 where that is not known. */
size_t pipe_holds(int fd);

/*
 * Does this pipe, which is not empty, hold packets? A writer that set O_DIRECT makes them
 * (pipe(7)), and the flags of the reading end do not show it; a read takes one packet at most.
 * Takes nothing out of the pipe. -1: it cannot be found out, and errno says why.
 */
int pipe_holds_packets(int fd);

/*
 * Refuses a socket that transfers messages: the part of a message that one read does not take is
 * lost, and only the return of a read shows its length. -1: it is such a socket, or cannot be
 * examined. A descriptor that is no socket is accepted.
 */
int pipe_check_socket(int fd, const char *name, struct fail *fail);

#endif
