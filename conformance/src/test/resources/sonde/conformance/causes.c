#define _GNU_SOURCE
// Programs with one planted cause each: causes MODE SECONDS FILE
#include <errno.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <mqueue.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
static int copy;
FUNCTION void emit_both(void) {
    static char block[65536];
    if (write(fd, "x", 1) < 0) sum++;
    if (sum++ % 50 == 0 && write(copy, block, sizeof block) < 0) sum++;
}
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
static char *volatile kept;
FUNCTION void cache_insert(void) {
    kept = malloc(1 << 18);
    memset(kept, 1, 1 << 18);
    sum++;
}
FUNCTION void touch_buffer(void) {
    char *p = mmap(0, 1 << 21, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 1 << 21; i += 4096) p[i] = 1;
    munmap(p, 1 << 21);
    sum++;
}
FUNCTION void write_index(void) { flock(fd, LOCK_EX); usleep(20000); flock(fd, LOCK_UN); sum++; }
static pthread_mutex_t *orders;
FUNCTION void place_order(void) { pthread_mutex_lock(orders); pthread_mutex_unlock(orders); sum++; }
FUNCTION void audit_orders(void) {
    pthread_mutex_lock(orders);
    usleep(25000);
    pthread_mutex_unlock(orders);
    usleep(1000);
    sum++;
}
FUNCTION void take_ticket(void) { struct sembuf one = {0, -1, 0}; semop(fd, &one, 1); sum++; }
FUNCTION void get_message(void) { char b[8192]; mq_receive(fd, b, sizeof b, 0); sum++; }
static pthread_spinlock_t spin;
FUNCTION void update_stats(void) {
    pthread_spin_lock(&spin);
    for (int i = 0; i < 300; i++) sum += i;
    pthread_spin_unlock(&spin);
}
static long total_hits;
static struct { volatile long left, right; } __attribute__((aligned(64))) hit_counts;
FUNCTION void add_hits(void) { for (int i = 0; i < 999; i++) __atomic_fetch_add(&total_hits, 1, 5); }
FUNCTION void count_left(void) { for (int i = 0; i < 999; i++) hit_counts.left++; }
FUNCTION void count_right(void) { for (int i = 0; i < 999; i++) hit_counts.right++; }
FUNCTION void check_config(void) { struct stat s; sum += stat("/etc/hostname", &s); sum++; }
FUNCTION void find_job(void) {
    char path[] = "/opt/planted-spool/?.job";
    path[19] = 'a' + sum % 9;
    if (access(path, R_OK)) sum++;
    sum++;
}
FUNCTION void find_plugin(void) {
    for (char c = 'a'; c < 'z'; c++) {
        char path[] = "/opt/plugins-planted/?/json.so";
        path[21] = c;
        if (open(path, O_RDONLY) >= 0) sum++;
    }
}
FUNCTION void run_hook(void) { if (system("sleep 2")) sum++; sum++; }
static pthread_rwlock_t route_table = PTHREAD_RWLOCK_INITIALIZER;
FUNCTION void find_route(void) {
    pthread_rwlock_rdlock(&route_table);
    pthread_rwlock_unlock(&route_table);
    sum++;
}
FUNCTION void reload_routes(void) {
    pthread_rwlock_wrlock(&route_table);
    usleep(50000);
    pthread_rwlock_unlock(&route_table);
    sum++;
}
FUNCTION int lock_file(int how, int type) {
    struct flock whole = {.l_type = type};
    int failed = fcntl(fd, how, &whole);
    sum++;
    return failed;
}
FUNCTION void append_entry(void) {
    lock_file(F_SETLKW, F_WRLCK);
    lock_file(F_SETLKW, F_UNLCK);
    usleep(500);
}
FUNCTION void rotate_entries(void) {
    lock_file(F_SETLKW, F_WRLCK);
    usleep(40000);
    lock_file(F_SETLKW, F_UNLCK);
    usleep(500);
}
FUNCTION void try_lock(void) { if (lock_file(F_SETLK, F_WRLCK)) usleep(50000); }
FUNCTION void check_queue(void) { struct pollfd one = {fd, POLLIN}; poll(&one, 1, 0); sum++; }
FUNCTION void reach_backend(struct sockaddr_in *to) {
    if (connect(socket(AF_INET, SOCK_STREAM, 0), (void *)to, sizeof *to)) sum++;
    sum++;
}
FUNCTION void open_shard(const char *path, int n) {
    char name[256];
    snprintf(name, sizeof name, "%s-%d", path, n % 8);
    close(open(name, O_CREAT | O_RDWR, 0600));
    sum++;
}
FUNCTION void wait_ready(void) { sched_yield(); sum++; }
FUNCTION void poll_flag(void) { usleep(20); sum++; }
FUNCTION void parse_header(volatile char *at) { *at = 1; sum++; }
FUNCTION void append_log(void) { if (write(fd, "a line of the log\n", 18) < 0) sum++; sum++; }
FUNCTION void reload_page(void) { sum += fcntl(fd, F_GETFL) + lseek(fd, 0, SEEK_CUR) + getppid(); sum++; }
static char *table;
FUNCTION void save_table(void) { table[sum % 8192] = sum; msync(table, 8192, MS_SYNC); sum++; }
FUNCTION void release_row(char *row) { free(row); free(row); sum++; }
static void on_tick(int signal) { sum++; }

static void until(void (*f)(void)) { while (now() < end) { f(); sum++; } }
static void *readers(void *none) { while (now() < end) { find_route(); usleep(500); } return 0; }
static void *spinners(void *none) { until(update_stats); return none; }
static void *adders(void *none) { while (now() < end) add_hits(); return none; }
static void *lefts(void *none) { while (now() < end) count_left(); return none; }
static void *rights(void *none) { while (now() < end) count_right(); return none; }
static void pair(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t t[2];
    pthread_create(t, 0, one, 0);
    pthread_create(t + 1, 0, other, 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
}
static void *workers(void *none) { while (now() < end) { look_up(); usleep(1000); } return none; }

int main(int argc, char **argv) {
    const char *mode = argv[1];
    end = now() + atof(argv[2]);
    if (!strcmp(mode, "hash")) until(slow_hash);
    fd = open(argv[3], O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (!strcmp(mode, "bytes")) until(emit_char);
    copy = open("/dev/null", O_WRONLY);
    if (!strcmp(mode, "both")) until(emit_both);
    if (!strcmp(mode, "fsync")) until(journal_commit);
    if (!strcmp(mode, "yield")) until(wait_ready);
    if (!strcmp(mode, "nap")) until(poll_flag);
    if (!strcmp(mode, "hook")) run_hook();
    if (!strcmp(mode, "search")) until(find_plugin);
    if (!strcmp(mode, "shared")) {
        pthread_mutexattr_t with;
        pthread_mutexattr_init(&with);
        pthread_mutexattr_setpshared(&with, 1);
        if (ftruncate(fd, 4096)) return 1;
        orders = mmap(0, 4096, 3, MAP_SHARED, fd, 0);
        pthread_mutex_init(orders, &with);
        if (fork() == 0) { until(audit_orders); _exit(0); }
        while (now() < end) { place_order(); usleep(500); }
        wait(0);
    }
    if (!strcmp(mode, "semop")) {
        fd = semget(IPC_PRIVATE, 1, 0600);
        if (fork() == 0) {
            struct sembuf one = {0, 1, 0};
            while (now() < end) { usleep(50000); semop(fd, &one, 1); }
            _exit(0);
        }
        until(take_ticket);
        wait(0);
        semctl(fd, 0, IPC_RMID);
    }
    if (!strcmp(mode, "queue")) {
        struct mq_attr size = {.mq_maxmsg = 5, .mq_msgsize = 100};
        fd = mq_open("/planted-jobs", O_CREAT | O_RDWR, 0600, &size);
        if (fork() == 0) {
            while (now() < end) { usleep(50000); mq_send(fd, "x", 1, 0); }
            _exit(0);
        }
        until(get_message);
        wait(0);
        mq_unlink("/planted-jobs");
    }
    if (!strcmp(mode, "spin")) {
        pthread_t t[4];
        pthread_spin_init(&spin, 0);
        for (int i = 0; i < 4; i++) pthread_create(t + i, 0, spinners, 0);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    }
    if (!strcmp(mode, "atomic")) pair(adders, adders);
    if (!strcmp(mode, "sharing")) pair(lefts, rights);
    if (!strcmp(mode, "bound")) {
        cpu_set_t first;
        CPU_ZERO(&first);
        CPU_SET(0, &first);
        sched_setaffinity(0, sizeof first, &first);
        if (fork()) fork();
        until(slow_hash);
        while (wait(0) > 0) sum++;
    }
    if (!strcmp(mode, "stat")) until(check_config);
    if (!strcmp(mode, "access")) until(find_job);
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
    if (!strcmp(mode, "rwlock")) {
        pthread_t t;
        for (int i = 0; i < 3; i++) pthread_create(&t, 0, readers, 0);
        while (now() < end) { reload_routes(); usleep(2000); }
    }
    if (!strcmp(mode, "twins")) {
        if (fork() == 0) { until(rotate_entries); _exit(0); }
        until(append_entry);
        wait(0);
    }
    if (!strcmp(mode, "trylock")) {
        if (fork() == 0) { lock_file(F_SETLKW, F_WRLCK); sleep(3); _exit(0); }
        usleep(50000);
        until(try_lock);
    }
    if (!strcmp(mode, "poll0")) {
        int p[2];
        if (pipe(p)) return 1;
        fd = p[0];
        until(check_queue);
    }
    if (!strcmp(mode, "connect")) {
        int l = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
        socklen_t length = sizeof at;
        if (bind(l, (void *)&at, length) || listen(l, 0)) return 1;
        getsockname(l, (void *)&at, &length);
        int child = fork();
        if (child == 0) for (;;) reach_backend(&at);
        sleep(2);
        kill(child, SIGKILL);
    }
    if (!strcmp(mode, "unclosed")) {
        int made[300];
        for (int i = 0; i < 300; i++) { made[i] = dup(fd); usleep(5000); }
        for (int i = 0; i < 300; i++) close(made[i]);
    }
    if (!strcmp(mode, "turns")) for (int n = 0; now() < end; n++) open_shard(argv[3], n);
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
    if (!strcmp(mode, "refused")) {
        int l = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
        socklen_t length = sizeof at;
        if (bind(l, (void *)&at, length) || getsockname(l, (void *)&at, &length)) return 1;
        while (now() < end) { reach_backend(&at); usleep(100000); }
    }
    if (!strcmp(mode, "calls")) until(reload_page);
    if (!strcmp(mode, "msync")) {
        if (ftruncate(fd, 8192)) return 1;
        table = mmap(0, 8192, 3, MAP_SHARED, fd, 0);
        until(save_table);
    }
    if (!strcmp(mode, "damage")) release_row(malloc(40));
    if (!strcmp(mode, "alarm")) { alarm(1); until(slow_hash); }
    if (!strcmp(mode, "crash")) parse_header((char *)0x1230);
    if (!strcmp(mode, "limit")) {
        struct rlimit most = {3600, 3600};
        setrlimit(RLIMIT_FSIZE, &most);
        for (;;) { append_log(); usleep(1000); }
    }
    if (!strcmp(mode, "ticks")) {
        signal(SIGALRM, on_tick);
        struct itimerval every = {{0, 500}, {0, 500}};
        setitimer(ITIMER_REAL, &every, 0);
        while (now() < end) pause();
    }
    return 0;
}
