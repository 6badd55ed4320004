// What each mode allocates is known by its text; nothing else in it allocates.
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static void *volatile sink;

static void put(void *block) {
    sink = block;
}

APART void lose(void) {
    put(malloc(40));
    asm volatile("");
}

APART void brief(void) {
    void *block = calloc(10, 100);
    put(block);
    free(block);
}

APART void *chain(void) {
    void *block = 0;
    for (int i = 1; i <= 50; i++) {
        block = realloc(block, i * 1000);
        put(block);
    }
    return block;
}

APART void *large(size_t bytes) {
    void *block = malloc(bytes);
    put(block);
    asm volatile("");
    return block;
}

APART void aligned(void) {
    void *block;
    if (posix_memalign(&block, 4096, 12345) == 0) {
        free(block);
    }
    block = aligned_alloc(64, 6400);
    put(block);
    free(block);
    block = memalign(32, 3200);
    put(block);
    free(block);
    block = reallocarray(0, 7, 100);
    put(block);
    free(block);
}

APART void *one_thread(void *unused) {
    void *blocks[500];
    for (int i = 0; i < 500; i++) {
        blocks[i] = malloc(64);
        put(blocks[i]);
    }
    for (int i = 0; i < 499; i++) {
        free(blocks[i]);
    }
    return blocks[499];
}

APART void twice(void) {
    void *block = malloc(5000);
    put(block);
    free(block);
    free(sink);
}

static char pool[100];

APART void *pool_get(size_t bytes) {
    asm volatile("");
    return bytes <= sizeof pool ? pool : 0;
}

// operator delete(void *): it does not go on to free.
APART void _ZdlPv(void *block) {
    put(block);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "all";
    if (!strcmp(mode, "all")) {
        for (int i = 0; i < 200; i++) {
            lose();
        }
        for (int i = 0; i < 1000; i++) {
            brief();
        }
        void *block = chain();
        free(large(1 << 20));
        free(block);
        aligned();
        free(large((size_t)2 << 30));
        if (realloc(large(16), ~(size_t)0 / 2) != 0) {
            return 1;
        }
    } else if (!strcmp(mode, "threads")) {
        pthread_t threads[8];
        for (int i = 0; i < 8; i++) {
            pthread_create(&threads[i], 0, one_thread, 0);
        }
        for (int i = 0; i < 8; i++) {
            pthread_join(threads[i], 0);
        }
    } else if (!strcmp(mode, "pool")) {
        for (int i = 0; i < 100; i++) {
            _ZdlPv(pool_get(60));
        }
        pool_get(99);
    } else if (!strcmp(mode, "twice")) {
        twice();
    } else if (!strcmp(mode, "fork")) {
        void *block = large(777);
        if (fork() == 0) {
            free(block);
            large(888);
            _exit(0);
        }
        sleep(0);
        usleep(100000);
    } else if (!strcmp(mode, "busy")) {
        static void *kept[4096];
        write(1, "r", 1);
        for (unsigned at = 0, i = 0;; i++, at = at * 1103515245 + 12345) {
            free(kept[at >> 20]);
            kept[at >> 20] = malloc(1 + i % 999);
        }
    } else if (!strcmp(mode, "server")) {
        char c;
        void *before = large(12345);
        write(1, "r", 1);
        while (read(0, &c, 1) == 1) {
            if (c == 'f') {
                free(before);
            }
            lose();
            write(1, "d", 1);
        }
    }
    return 0;
}
