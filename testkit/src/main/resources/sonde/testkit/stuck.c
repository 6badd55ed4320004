// A process that hangs in the way that its first argument names; prints "ready" when it does.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inheriting;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t slots;
static volatile unsigned long turns;

static void ready(void) { puts("ready"); fflush(stdout); }
static int queue = -1, semaphores = -1;
static void leave(int signal) {
    if (queue >= 0) msgctl(queue, IPC_RMID, 0);
    if (semaphores >= 0) semctl(semaphores, 0, IPC_RMID);
    _exit(signal);
}
static void hang(void) { for (;;) pause(); }
static pid_t child(void) {
    pid_t pid = fork();
    if (pid == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}
static struct sockaddr_in local(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return a;
}
static int listening(void) {
    int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = local();
    bind(s, (void *)&a, sizeof a);
    listen(s, 8);
    return s;
}
static int connected(int to) {
    struct sockaddr_in a;
    socklen_t n = sizeof a;
    getsockname(to, (void *)&a, &n);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    connect(s, (void *)&a, n);
    return s;
}
NOINLINE static void *hold_first(void *a) {
    pthread_setname_np(pthread_self(), "holder");
    pthread_mutex_lock(&first);
    ready();
    hang();
    return a;
}
NOINLINE static void *hold_table(void *a) {
    pthread_setname_np(pthread_self(), "holder");
    pthread_rwlock_wrlock(&table_lock);
    ready();
    hang();
    return a;
}
NOINLINE static void *hold_inheriting(void *a) {
    pthread_setname_np(pthread_self(), "holder");
    pthread_mutex_lock(&inheriting);
    ready();
    hang();
    return a;
}
NOINLINE static void *transfer_back(void *a) {
    pthread_setname_np(pthread_self(), "back");
    pthread_mutex_lock(&second);
    usleep(200000);
    pthread_mutex_lock(&first);
    return a;
}
NOINLINE static void transfer(void) {
    pthread_mutex_lock(&first);
    usleep(200000);
    ready();
    pthread_mutex_lock(&second);
}
NOINLINE static void wait_for_jobs(void) { pthread_mutex_lock(&first); pthread_cond_wait(&cond, &first); }
NOINLINE static void read_answer(int fd) { char b[64]; if (read(fd, b, sizeof b) < 0) perror("read"); }
NOINLINE static void serve(int s) { accept(s, 0, 0); }
NOINLINE static void crunch(void) { for (;;) turns++; }

int main(int argc, char **argv) {
    const char *mode = argv[1];
    pthread_t t;
    int p[2];
    char b[64];
    signal(SIGTERM, leave);
    if (!strcmp(mode, "accept")) {
        int s = listening(); ready(); serve(s);
    } else if (!strcmp(mode, "pipe")) {
        pipe(p);
        if (child() == 0) { prctl(PR_SET_NAME, "slowwriter"); close(p[0]); hang(); }
        close(p[1]); ready(); read_answer(p[0]);
    } else if (!strcmp(mode, "fullpipe")) {
        pipe(p);
        if (child() == 0) { prctl(PR_SET_NAME, "slowreader"); close(p[1]); hang(); }
        close(p[0]); ready(); for (;;) write(p[1], b, sizeof b);
    } else if (!strcmp(mode, "flock") || !strcmp(mode, "fcntl")) {
        int fd = open(argv[2], O_RDWR | O_CREAT, 0600);
        struct flock l = {.l_type = F_WRLCK};
        pipe(p);
        if (child() == 0) {
            prctl(PR_SET_NAME, "lockholder");
            int own = open(argv[2], O_RDWR);
            if (mode[1] == 'l') flock(own, LOCK_EX); else fcntl(own, F_SETLKW, &l);
            write(p[1], "x", 1);
            hang();
        }
        read(p[0], b, 1); ready();
        if (mode[1] == 'l') flock(fd, LOCK_EX); else fcntl(fd, F_SETLKW, &l);
    } else if (!strcmp(mode, "mutex")) {
        pthread_create(&t, 0, hold_first, 0); usleep(100000); pthread_mutex_lock(&first);
    } else if (!strcmp(mode, "pi")) {
        pthread_mutexattr_t a;
        pthread_mutexattr_init(&a);
        pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&inheriting, &a);
        pthread_create(&t, 0, hold_inheriting, 0); usleep(100000); pthread_mutex_lock(&inheriting);
    } else if (!strcmp(mode, "rdlock") || !strcmp(mode, "wrlock")) {
        pthread_create(&t, 0, hold_table, 0); usleep(100000);
        if (mode[0] == 'r') pthread_rwlock_rdlock(&table_lock); else pthread_rwlock_wrlock(&table_lock);
    } else if (!strcmp(mode, "cond")) {
        ready(); wait_for_jobs();
    } else if (!strcmp(mode, "sem")) {
        sem_init(&slots, 0, 0); ready(); sem_wait(&slots);
    } else if (!strcmp(mode, "epoll")) {
        int s = listening(), c = connected(s), e = epoll_create1(0);
        pipe(p);
        if (child() == 0) {
            prctl(PR_SET_NAME, "backend");
            close(c); accept(s, 0, 0); write(p[1], "x", 1); hang();
        }
        struct epoll_event v = {.events = EPOLLIN, .data.fd = c};
        epoll_ctl(e, EPOLL_CTL_ADD, c, &v); close(s);
        read(p[0], b, 1); ready(); epoll_wait(e, &v, 1, -1);
    } else if (!strcmp(mode, "poll") || !strcmp(mode, "select")) {
        int s = listening(), c = connected(s);
        struct pollfd f = {.fd = c, .events = POLLIN};
        fd_set set;
        FD_ZERO(&set); FD_SET(c, &set); ready();
        if (mode[0] == 'p') poll(&f, 1, 60000); else select(c + 1, &set, 0, 0, 0);
    } else if (!strcmp(mode, "child")) {
        if (child() == 0) { prctl(PR_SET_NAME, "hangs"); hang(); }
        ready(); wait(0);
    } else if (!strcmp(mode, "msg")) {
        queue = msgget(IPC_PRIVATE, 0600); ready(); msgrcv(queue, b, 8, 0, 0);
    } else if (!strcmp(mode, "semop")) {
        semaphores = semget(IPC_PRIVATE, 1, 0600);
        struct sembuf o = {0, -1, 0};
        ready(); semop(semaphores, &o, 1);
    } else if (!strcmp(mode, "fifo")) {
        mkfifo(argv[2], 0600); ready(); open(argv[2], O_RDONLY);
    } else if (!strcmp(mode, "deadlock")) {
        pthread_create(&t, 0, transfer_back, 0); transfer();
    } else if (!strcmp(mode, "stop")) {
        ready(); raise(SIGSTOP);
    } else if (!strcmp(mode, "unix")) {
        int s = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        strcpy(a.sun_path, argv[2]);
        unlink(argv[2]); bind(s, (void *)&a, sizeof a); listen(s, 1); connect(c, (void *)&a, sizeof a);
        pipe(p);
        if (child() == 0) {
            prctl(PR_SET_NAME, "busdaemon");
            close(c); accept(s, 0, 0); write(p[1], "x", 1); hang();
        }
        close(s); read(p[0], b, 1); ready(); recv(c, b, sizeof b, 0);
    } else if (!strcmp(mode, "spin")) {
        ready(); crunch();
    } else if (!strcmp(mode, "exec")) {
        ready(); execlp("sleep", "sleep", "1000", (char *)0);
    }
    return 0;
}
