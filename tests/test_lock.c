/* SPDX-License-Identifier: MIT */
/*
 * lock: take, drop, wait; with LOCKS_CHECKED a thread that does one of them wrongly is stopped.
 */
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "check.h"

static struct lock lock;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long sum;
static bool over;

static void *adder(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		lock_take(&lock);
		lock_assert_held(&lock);
		sum++;
		lock_drop(&lock);
	}
	lock_take(&lock);
	while (!over)
		lock_wait(&lock, &changed);
	lock_assert_held(&lock);
	sum++;
	lock_drop(&lock);
	return arg;
}

static void test_threads(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&thread[i], NULL, adder, NULL) == 0, "thread");
	lock_take(&lock);
	over = true;
	pthread_cond_broadcast(&changed);
	lock_drop(&lock);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK(sum == 4 * 20001, "%lu", sum);
}

#ifdef LOCKS_CHECKED

static void take_twice(void)
{
	lock_take(&lock);
	lock_take(&lock);
}

static void take_lower(void)
{
	struct lock lower;

	lock_init(&lower, LOCK_RUN);
	lock_take(&lock);
	lock_take(&lower);
}

static void take_alone(void)
{
	struct lock alone;

	lock_init(&alone, LOCK_ALONE);
	lock_take(&lock);
	lock_take(&alone);
}

static void take_after_last(void)
{
	struct lock last[2];

	lock_init(&last[0], LOCK_LAST);
	lock_init(&last[1], LOCK_LAST);
	lock_take(&last[0]);
	lock_take(&last[1]);
}

static void wait_with_another(void)
{
	struct lock last;

	lock_init(&last, LOCK_LAST);
	lock_take(&lock);
	lock_take(&last);
	lock_wait(&last, &changed);
}

static void drop_without(void)
{
	lock_drop(&lock);
}

static void wait_without(void)
{
	lock_wait(&lock, &changed);
}

static void assert_without(void)
{
	lock_assert_held(&lock);
}

static void *take(void *arg)
{
	lock_take(&lock);
	return arg;
}

static void drop_anothers(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, take, NULL);
	pthread_join(thread, NULL);
	lock_drop(&lock);
}

/* An assertion ends the process of each. */
static void test_wrong(void)
{
	static const struct {
		const char *what;
		void (*f)(void);
	} WRONG[] = {{"taken twice", take_twice},
		     {"taken after a later one", take_lower},
		     {"taken with another, which it must not", take_alone},
		     {"taken after a last one", take_after_last},
		     {"waited with another", wait_with_another},
		     {"dropped by a thread that has it not", drop_without},
		     {"waited without it", wait_without},
		     {"asserted without it", assert_without},
		     {"dropped by another thread", drop_anothers}};

	for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
		int status = 0;
		const pid_t child = fork();
		if (child == 0) {
			setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
			close(STDERR_FILENO);
			alarm(20);
			WRONG[i].f();
			_exit(0);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
			      WTERMSIG(status) == SIGABRT,
		      "%s: status %d", WRONG[i].what, status);
	}
}

#else

static void test_wrong(void)
{
}

#endif

int main(void)
{
	lock_init(&lock, LOCK_SOURCE);
	test_threads();
	test_wrong();
	lock_destroy(&lock);
	return check_report();
}
