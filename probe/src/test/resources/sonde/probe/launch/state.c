/* Prints all that a process inherits through execve, for comparison of two ways to start it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

extern char **environ;

static void text(const char *label, const char *s) {
    printf("%s ", label);
    for (; *s; s++)
        printf(*s > 32 && *s < 127 ? "%c" : "\\%02x", *s & 255);
    puts("");
}

static void file(const char *path, const char *keys) {
    char line[4096];
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        char key[64] = "";
        sscanf(line, "%60[^:]:", key);
        strcat(key, ",");
        if (!keys || strstr(keys, key))
            printf("%s %s", path, line);
    }
    if (f)
        fclose(f);
}

int main(int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        text("argument", argv[i]);
    for (char **e = environ; *e; e++)
        text("environment", *e);
    for (int r = 0; r < 16; r++) {
        struct rlimit l;
        getrlimit(r, &l);
        printf("limit %d %lld %lld\n", r, (long long)l.rlim_cur, (long long)l.rlim_max);
    }
    file("/proc/self/status",
         "Umask,SigPnd,ShdPnd,SigBlk,SigIgn,SigCgt,CapInh,CapPrm,CapEff,CapBnd,CapAmb,Uid,Gid,"
         "Groups,NoNewPrivs,Seccomp,Seccomp_filters,Cpus_allowed,Mems_allowed,THP_enabled,"
         "untag_mask,Speculation_Store_Bypass,CoreDumping,");
    file("/proc/self/oom_score_adj", NULL);
    file("/proc/self/coredump_filter", NULL);
    file("/proc/self/timerslack_ns", NULL);
    file("/proc/self/autogroup", NULL);
    file("/proc/self/cgroup", NULL);
    file("/proc/self/comm", NULL);
    for (int fd = 0; fd < 1024; fd++) {
        char path[64], target[4096];
        sprintf(path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n >= 0) {
            target[n] = 0;
            printf("descriptor %d %s %x %x\n", fd, target, fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
        }
    }
    char cwd[4096] = "";
    text("cwd", getcwd(cwd, sizeof cwd) ? cwd : "?");
    printf("nice %d policy %d ioprio %ld\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0),
           syscall(SYS_ioprio_get, 1, 0));
    printf("pgrp %d session %d foreground %d\n", getpgrp(), getsid(0), tcgetpgrp(0));
    printf("personality %x subreaper %d dumpable %d\n", personality(0xffffffff),
           prctl(PR_GET_CHILD_SUBREAPER, &(int){0}), prctl(PR_GET_DUMPABLE));
    int deathsig = -1;
    prctl(PR_GET_PDEATHSIG, &deathsig);
    printf("deathsig %d thp %d\n", deathsig, prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
    return 7;
}
