/* Touches fresh pages in touch_pages and sends itself signals; prints how many of each. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

static volatile int handled;

static void on_signal(int number) {
    (void)number;
    handled++;
}

__attribute__((noinline)) void touch_pages(volatile char *start, long pages) {
    for (long i = 0; i < pages; i++) {
        start[i * 4096] = 1;
    }
}

__attribute__((noinline)) void make_faults(long pages) {
    for (int round = 0; round < 20; round++) {
        char *block = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) {
            exit(1);
        }
        madvise(block, pages * 4096, MADV_NOHUGEPAGE);
        touch_pages(block, pages);
        munmap(block, pages * 4096);
    }
}

int main(void) {
    long pages = 10000;
    struct rusage before, after;
    signal(SIGUSR1, on_signal);
    getrusage(RUSAGE_SELF, &before);
    make_faults(pages);
    getrusage(RUSAGE_SELF, &after);
    for (int i = 0; i < 10; i++) {
        raise(SIGUSR1);
    }
    printf("faults %ld\n", after.ru_minflt - before.ru_minflt);
    printf("touched %ld\n", pages * 20);
    printf("handled %d\n", handled);
    return 0;
}
