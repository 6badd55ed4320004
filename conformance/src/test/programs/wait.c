/*
 * Waits on a lock, on a disk and on a socket, each in a thread of that name; prints how long:
 * time passed in the calls less the CPU time spent in them, in nanoseconds, and how often.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static uint64_t nanos(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t off_cpu(void) {
    return nanos(CLOCK_MONOTONIC) - nanos(CLOCK_THREAD_CPUTIME_ID);
}

static void nap(int millis) {
    struct timespec t = {0, millis * 1000000l};
    nanosleep(&t, 0);
}

struct waiter {
    uint64_t nanos, count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, freed;
static int rounds = 40;
static const char *path;

static void *holder(void *none) {
    (void)none;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        sem_post(&held);
        nap(10);
        pthread_mutex_unlock(&lock);
        sem_wait(&freed);
    }
    return 0;
}

static void take_lock(void) {
    pthread_mutex_lock(&lock);
}

static void *lock_waiter(void *result) {
    struct waiter *w = result;
    for (int i = 0; i < rounds; i++) {
        while (sem_trywait(&held) != 0) {
            nap(1);
        }
        uint64_t before = off_cpu();
        take_lock();
        w->nanos += off_cpu() - before;
        w->count++;
        pthread_mutex_unlock(&lock);
        sem_post(&freed);
    }
    return 0;
}

static void *disk_waiter(void *result) {
    struct waiter *w = result;
    void *block;
    int fd = open(path, O_CREAT | O_WRONLY | O_DIRECT, 0600);
    if (fd < 0 || posix_memalign(&block, 4096, 4096) != 0) {
        perror(path);
        return 0;
    }
    memset(block, 'x', 4096);
    for (int i = 0; i < rounds; i++) {
        uint64_t before = off_cpu();
        if (pwrite(fd, block, 4096, 4096l * i) != 4096 || fsync(fd) != 0) {
            perror("pwrite");
        }
        w->nanos += off_cpu() - before;
        w->count++;
    }
    close(fd);
    return 0;
}

static int connection[2];

static void *server(void *none) {
    char c;
    (void)none;
    while (recv(connection[1], &c, 1, 0) == 1) {
        nap(10);
        send(connection[1], &c, 1, 0);
    }
    return 0;
}

static void *socket_waiter(void *result) {
    struct waiter *w = result;
    char c = 'x';
    for (int i = 0; i < rounds; i++) {
        send(connection[0], &c, 1, 0);
        uint64_t before = off_cpu();
        recv(connection[0], &c, 1, 0);
        w->nanos += off_cpu() - before;
        w->count++;
    }
    shutdown(connection[0], SHUT_RDWR);
    return 0;
}

static void join_sockets(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0
            || listen(listener, 1) != 0
            || getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        perror("listen");
        exit(1);
    }
    connection[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection[0], (struct sockaddr *)&address, length) != 0) {
        perror("connect");
        exit(1);
    }
    connection[1] = accept(listener, 0, 0);
    printf("port %d\n", ntohs(address.sin_port));
}

int main(int argc, char **argv) {
    const char *names[5] = {"lock", "disk", "socket", "holder", "server"};
    void *(*run[5])(void *) = {lock_waiter, disk_waiter, socket_waiter, holder, server};
    struct waiter found[5] = {0};
    pthread_t threads[5];
    path = argc > 1 ? argv[1] : "wait.dat";
    sem_init(&held, 0, 0);
    sem_init(&freed, 0, 0);
    join_sockets();
    for (int i = 0; i < 5; i++) {
        pthread_create(&threads[i], 0, run[i], &found[i]);
        pthread_setname_np(threads[i], names[i]);
    }
    for (int i = 0; i < 5; i++) {
        pthread_join(threads[i], 0);
    }
    for (int i = 0; i < 3; i++) {
        printf("%s %llu\n", names[i], (unsigned long long)found[i].nanos);
        printf("%s-count %llu\n", names[i], (unsigned long long)found[i].count);
    }
    return 0;
}
