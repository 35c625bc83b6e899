/*
 * Library for LD_PRELOAD that shifts the clock of a process by CLOCK_OFFSET seconds. Timers and the monotonic clock are unaffected. (With
 * libfaketime 0.9.10 PostgreSQL's statement_timeout and lock_timeout never fire.)
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void)
{
  static int known;
  static long seconds;
  if (!known) {
    const char *text = getenv("CLOCK_OFFSET");
    seconds = text ? atol(text) : 0;
    known = 1;
  }
  return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
  int status = syscall(SYS_clock_gettime, clock, now);
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
  return status;
}

int gettimeofday(struct timeval *now, void *zone)
{
  struct timespec precise;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now)
{
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now) *now = precise.tv_sec;
  return precise.tv_sec;
}
