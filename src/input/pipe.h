/* SPDX-License-Identifier: MIT */
/* pipe: how much a pipe carries, and whether what comes keeps messages apart. Without any lock. */
#ifndef GPUHIST_PIPE_H
#define GPUHIST_PIPE_H

#include "base/fail.h"

/*
 * Asks a pipe to be as large as the system lets it: 1 MiB unless that was changed. A refusal costs speed only, a
 * pipe that another process made larger stays so, and what is no pipe stays what it is.
 */
void pipe_widen(int fd);

/*
 * Does this pipe, in which there is something, hold packets? A writer that set O_DIRECT makes them (pipe(7)), and
 * the reading end's flags do not show it; a read takes one packet at most. Takes nothing. -1: it cannot be told,
 * and errno says why.
 */
int pipe_holds_packets(int fd);

/*
 * Refuses a socket that keeps messages apart: of a message, what one read does not take is lost, and only the end
 * of a read shows how long it was. -1: it does, or cannot be looked at. What is no socket is accepted.
 */
int pipe_check_socket(int fd, const char *name, struct fail *fail);

#endif
