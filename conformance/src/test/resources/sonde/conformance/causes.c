#define _GNU_SOURCE
// Programs with one planted cause each: causes MODE SECONDS FILE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline)) static
static double end;
static volatile long sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
FUNCTION void slow_hash(void) { for (int i = 0; i < 100000; i++) sum += i % 7; }
FUNCTION void emit_char(void) { if (write(fd, "x", 1) < 0) sum++; sum++; }
FUNCTION void journal_commit(void) { if (write(fd, "x", 1) < 0) sum++; fsync(fd); sum++; }
FUNCTION void try_receive(void) { char b[16]; if (read(fd, b, 16) < 0) sum++; sum++; }
FUNCTION void look_up(void) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); sum++; }
FUNCTION void refresh_cache(void) {
    pthread_mutex_lock(&lock);
    usleep(30000);
    pthread_mutex_unlock(&lock);
    sum++;
}
FUNCTION void spawn_job(void) { if (fork() == 0) _exit(0); sum++; }
FUNCTION void load_config(void) { if (open("/etc/hostname", O_RDONLY) < 0) sum++; sum++; }
FUNCTION void cache_insert(void) { memset(malloc(1 << 18), 1, 1 << 18); sum++; }
FUNCTION void touch_buffer(void) {
    char *p = mmap(0, 1 << 21, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 1 << 21; i += 4096) p[i] = 1;
    munmap(p, 1 << 21);
    sum++;
}
FUNCTION void write_index(void) { flock(fd, LOCK_EX); usleep(20000); flock(fd, LOCK_UN); sum++; }
FUNCTION void find_plugin(void) {
    for (char c = 'a'; c < 'z'; c++) {
        char path[] = "/opt/plugins-planted/?/json.so";
        path[21] = c;
        if (open(path, O_RDONLY) >= 0) sum++;
    }
}
FUNCTION void run_hook(void) { if (system("sleep 2")) sum++; sum++; }
FUNCTION void wait_ready(void) { sched_yield(); sum++; }
FUNCTION void poll_flag(void) { usleep(20); sum++; }
static void on_tick(int signal) { sum++; }

static void until(void (*f)(void)) { while (now() < end) { f(); sum++; } }
static void *workers(void *none) { while (now() < end) { look_up(); usleep(1000); } return none; }

int main(int argc, char **argv) {
    const char *mode = argv[1];
    end = now() + atof(argv[2]);
    if (!strcmp(mode, "hash")) until(slow_hash);
    fd = open(argv[3], O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (!strcmp(mode, "bytes")) until(emit_char);
    if (!strcmp(mode, "fsync")) until(journal_commit);
    if (!strcmp(mode, "yield")) until(wait_ready);
    if (!strcmp(mode, "nap")) until(poll_flag);
    if (!strcmp(mode, "hook")) run_hook();
    if (!strcmp(mode, "search")) until(find_plugin);
    if (!strcmp(mode, "touch")) until(touch_buffer);
    if (!strcmp(mode, "grow")) while (now() < end) { cache_insert(); usleep(3000); }
    if (!strcmp(mode, "zombies")) while (now() < end) { spawn_job(); usleep(5000); }
    if (!strcmp(mode, "leak")) while (now() < end) { load_config(); usleep(3000); }
    if (!strcmp(mode, "eagain")) {
        int p[2];
        if (pipe2(p, O_NONBLOCK)) return 1;
        fd = p[0];
        until(try_receive);
    }
    if (!strcmp(mode, "mutex")) {
        pthread_t t;
        for (int i = 0; i < 4; i++) pthread_create(&t, 0, workers, 0);
        pthread_setname_np(t, "worker");
        while (now() < end) { refresh_cache(); usleep(5000); }
    }
    if (!strcmp(mode, "flock")) {
        for (int i = 0; i < 3; i++) {
            if (fork() == 0) {
                fd = open(argv[3], O_RDWR);
                until(write_index);
                _exit(0);
            }
        }
        while (wait(0) > 0) sum++;
    }
    if (!strcmp(mode, "ticks")) {
        signal(SIGALRM, on_tick);
        struct itimerval every = {{0, 500}, {0, 500}};
        setitimer(ITIMER_REAL, &every, 0);
        while (now() < end) pause();
    }
    return 0;
}
