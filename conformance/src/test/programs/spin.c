/* Three threads burn CPU time, each in functions of its own; prints the nanoseconds of each. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t cpu_nanos(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static volatile uint64_t sink;
static uint64_t limit_nanos;

#define WORK(name, step)                                        \
    __attribute__((noinline)) void inner_##name(void) {         \
        uint64_t x = sink | 1;                                  \
        for (int i = 0; i < 2000000; i++) {                     \
            x = x * step + (x >> 7);                            \
        }                                                       \
        sink = x;                                               \
    }                                                           \
    __attribute__((noinline)) uint64_t outer_##name(void) {     \
        while (cpu_nanos() < limit_nanos) {                     \
            inner_##name();                                     \
        }                                                       \
        return cpu_nanos();                                     \
    }                                                           \
    static void *run_##name(void *spent) {                      \
        *(uint64_t *)spent = outer_##name();                    \
        return 0;                                               \
    }

WORK(alpha, 3)
WORK(beta, 5)
WORK(gamma, 7)

int main(int argc, char **argv) {
    void *(*run[3])(void *) = {run_alpha, run_beta, run_gamma};
    const char *names[3] = {"alpha", "beta", "gamma"};
    uint64_t spent[3];
    pthread_t threads[3];
    limit_nanos = (argc > 1 ? atoll(argv[1]) : 300) * 1000000ull;
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], 0, run[i], &spent[i]);
        pthread_setname_np(threads[i], names[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], 0);
        printf("%s %llu\n", names[i], (unsigned long long)spent[i]);
    }
    return 0;
}
