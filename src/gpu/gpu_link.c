/* SPDX-License-Identifier: MIT */
/*
 * gpu_link: starts the GPU process (gpu_helper/helper.h) and watches it.
 *
 * One thread does both, because the process is killed when the thread that started it exits. The
 * thread calls gpu_fail if
 *
 *	the process dies     the socket reports end of file
 *	the driver fails     the process says so and exits
 *	the process hangs    slots wait, but none is answered for ANSWER_LOOKS: it is stopped, or
 *	                     a driver call or a kernel does not return
 *	it does not start    it is not ready after START_LOOKS
 *
 * link_close shuts the socket down and joins the thread, which kills the GPU process. The run calls
 * it as soon as the last counts are fetched, so that the process ends while the result is made and
 * written. gpu_reap then waits for its end, END_LOOKS at most: a process inside a driver call may
 * never exit, and a driver may take longer to release a device than anyone would wait for.
 */
#include "gpu/gpu_state.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/signals.h"

/*
 * Limits for a start and for an answer, as a number of checks a second apart: unlike a clock, that
 * number stands still while both processes are stopped.
 */
#define START_LOOKS 60u
/* Another program may keep a shared GPU busy for seconds; a chunk takes milliseconds. */
#ifndef ANSWER_LOOKS /* the checks of kernels wait longer */
#define ANSWER_LOOKS 20u
#endif
#define LOOK_MS 1000
/* Limit for an end, as a number of checks a millisecond apart: too short to be noticed. */
#define END_LOOKS 20u

extern char **environ;

static pid_t ending; /* the GPU process of the last closed link; 0: none, or it was waited for */

/* ---- the start ---- */

/* Set the child's descriptors. link_open has moved ours away from these numbers. */
static int set_files(posix_spawn_file_actions_t *actions, const struct link *link)
{
	int rc = 0;

	for (int fd = 0; fd <= 2 && rc == 0; fd++)
		rc = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, link->theirs, HELPER_SOCKET);
	return rc ? rc : posix_spawn_file_actions_adddup2(actions, link->region_fd, HELPER_REGION);
}

/*
 * Give the child its own session and default signal actions, and block only USR1: `pkill -USR1
 * gpuhist` asks for progress, but matches the child's name too. A signal to our process group may
 * still arrive before the child has its session.
 */
static void set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t usr1, all;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						     POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(attributes, &usr1);
	posix_spawnattr_setsigdefault(attributes, &all);
}

/* Start our own executable, even if it was renamed or deleted. Return an error number. */
static int spawn(struct link *link)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char argument[sizeof(HELPER_ARGUMENT) + 24], name[] = "gpuhist";
	char *argv[] = {name, argument, NULL};
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc != 0)
		return rc;
	snprintf(argument, sizeof(argument), HELPER_ARGUMENT "%ld", (long)getpid());
	if ((rc = posix_spawnattr_init(&attributes)) == 0) {
		set_attributes(&attributes);
		if ((rc = set_files(&actions, link)) == 0)
			rc = posix_spawn(&link->helper, "/proc/self/exe", &actions, &attributes,
					 argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* ---- listening ---- */

/* Wait up to `looks` ms for the end of *helper, and set it to 0. Return its status, or -1. */
static int await_end(pid_t *helper, unsigned looks)
{
	int status = -1;

	for (; *helper > 0; looks--) {
		if (waitpid(*helper, &status, WNOHANG) != 0)
			*helper = 0;
		else if (looks == 0)
			break;
		else
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return status;
}

/* Describe how the GPU process ended, if that is known within 0.1 s. */
static void describe_end(struct link *link, char *text, size_t size)
{
	const int status = await_end(&link->helper, 100);

	if (status != -1 && WIFSIGNALED(status))
		snprintf(text, size, "its process was killed by signal %d", WTERMSIG(status));
	else
		snprintf(text, size, "its process has ended");
}

static bool closing(const struct link *link)
{
	return __atomic_load_n(&link->closing, __ATOMIC_ACQUIRE);
}

static unsigned waiting_slots(const struct gpu *gpu)
{
	unsigned waiting = 0;

	for (unsigned k = 0; k < gpu->size.slots; k++)
		waiting += slot_state_of(&gpu->region->slot[k]) == SLOT_SUBMITTED;
	return waiting;
}

/* Called after each second without a message. Fail the GPU if its process is silent too long. */
static void check_silence(struct gpu *gpu)
{
	struct link *const link = &gpu->link;
	const unsigned waiting = waiting_slots(gpu);
	const uint64_t answered = __atomic_load_n(&gpu->submitted, __ATOMIC_RELAXED) - waiting;
	const bool starting = gpu_starting(gpu);
	const bool silent = starting || (waiting > 0 && answered == link->answered);

	link->silent = silent ? link->silent + 1 : 0;
	link->answered = answered;
	if (link->silent > (starting ? START_LOOKS : ANSWER_LOOKS))
		gpu_fail(gpu, "driver",
			 starting ? "it did not start in time" : "its process does not answer");
}

/* Make text from the GPU process safe to show on a terminal. */
static void make_plain(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* Handle one message. Return false if it was the last one. */
static bool listen_once(struct gpu *gpu)
{
	struct notice notice = {.kind = 0};
	/* With MSG_TRUNC, recv returns the full length even of a message that is too long. */
	const ssize_t got = recv(gpu->link.socket, &notice, sizeof(notice), MSG_TRUNC);
	char why[64];

	if (got < 0 && errno == EINTR)
		return true;
	if (closing(&gpu->link))
		return false;
	if (got <= 0) {
		describe_end(&gpu->link, why, sizeof(why));
		gpu_fail(gpu, "driver", why);
		return false;
	}
	make_plain(notice.why, sizeof(notice.why));
	make_plain(notice.name, sizeof(notice.name));
	make_plain(notice.kernel, sizeof(notice.kernel));
	if (got == (ssize_t)sizeof(notice) && notice.kind == NOTICE_FAILED) {
		char *const colon = strstr(notice.why, ": ");
		if (colon)
			*colon = '\0';
		gpu_fail(gpu, notice.why, colon ? colon + 2 : "it failed");
		return false;
	}
	if (got != (ssize_t)sizeof(notice) || notice.kind != NOTICE_READY ||
	    gpu_is_ready(gpu, &notice) != 0) {
		gpu_fail(gpu, "driver", "its process sent an invalid answer");
		return false;
	}
	gpu->link.silent = 0;
	return true;
}

static void *link_main(void *arg)
{
	struct gpu *gpu = arg;
	struct link *link = &gpu->link;
	struct pollfd words = {.fd = link->socket, .events = POLLIN};
	const int rc = spawn(link);

	close(link->theirs);
	close(link->region_fd);
	if (rc != 0) {
		link->helper = 0;
		gpu_fail(gpu, "a process for the driver", strerror(rc));
		return NULL;
	}
	while (!gpu_failed(gpu) && !closing(link)) {
		const int n = poll(&words, 1, LOOK_MS);
		if (n > 0 && !listen_once(gpu))
			break;
		if (n == 0)
			check_silence(gpu);
		/* Without poll() we would never learn that the process has ended. */
		if (n < 0 && errno != EINTR)
			gpu_fail(gpu, "driver", strerror(errno));
	}
	(void)await_end(&link->helper, 0);
	if (link->helper > 0)
		kill(link->helper, SIGKILL);
	return NULL;
}

/* Move a descriptor above the numbers that the child's descriptors will have. */
static int move_up(int fd)
{
	if (fd < 0 || fd > HELPER_REGION)
		return fd;
	const int higher = fcntl(fd, F_DUPFD_CLOEXEC, HELPER_REGION + 1);
	const int error = errno;
	close(fd);
	errno = error;
	return higher;
}

int link_open(struct gpu *gpu, int region_fd)
{
	struct link *link = &gpu->link;
	int pair[2];

	link->socket = -1;
	link->region_fd = move_up(region_fd);
	if (link->region_fd < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		close(link->region_fd);
		return -1;
	}
	link->socket = pair[0];
	link->theirs = move_up(pair[1]);
	const int error = link->theirs < 0 ? errno : signals_thread(&link->thread, link_main, gpu);
	if (error == 0) {
		link->joinable = true;
		return 0;
	}
	if (link->theirs >= 0)
		close(link->theirs);
	close(link->region_fd);
	close(link->socket);
	link->socket = -1;
	errno = error;
	return -1;
}

void link_close(struct gpu *gpu)
{
	struct link *link = &gpu->link;

	if (!link->joinable)
		return;
	__atomic_store_n(&link->closing, true, __ATOMIC_RELEASE);
	shutdown(link->socket, SHUT_RDWR);
	pthread_join(link->thread, NULL);
	close(link->socket);
	link->joinable = false;
	gpu_reap(); /* of a link before this one */
	ending = link->helper;
}

void gpu_reap(void)
{
	(void)await_end(&ending, END_LOOKS);
}
