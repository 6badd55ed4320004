/* Calls getppid(2) COUNT times at RATE a second, spinning in between; prints the rate that it held.
 *     paced RATE COUNT
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(int argc, char **argv)
{
	double rate = argc > 1 ? atof(argv[1]) : 1e6;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 5000000;
	uint64_t start = now();

	for (uint64_t i = 0; i < count; i++) {
		while (now() < start + (uint64_t)(i * 1e9 / rate))
			;
		syscall(SYS_getppid);
	}
	fprintf(stderr, "rate %.0f\n", count / ((now() - start) / 1e9));
	return 0;
}
