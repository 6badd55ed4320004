/* Maps files of every kind, then puts something else in their place. Argument: a folder to work in. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[4096];

static const char *in(const char *folder, const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void map(int fd, int prot) {
    if (fd >= 0)
        mmap(0, 4096, prot, MAP_PRIVATE, fd, 0);
}

/* A copy of this program, mapped executable; the name stays in `path`. */
static int copy(const char *folder, const char *name) {
    static char bytes[1 << 20];
    int self = open("/proc/self/exe", O_RDONLY);
    int fd = open(in(folder, name), O_CREAT | O_RDWR | O_TRUNC, 0700);
    ssize_t n;
    while ((n = read(self, bytes, sizeof bytes)) > 0)
        if (write(fd, bytes, n) != n)
            exit(9);
    close(self);
    map(fd, PROT_READ | PROT_EXEC);
    return fd;
}

int main(int argc, char **argv) {
    const char *folder = argv[1];
    volatile long sum = 0;
    map(open("/sys/kernel/btf/vmlinux", O_RDONLY), PROT_READ);
    map(open("/dev/zero", O_RDWR), PROT_READ | PROT_EXEC);
    int anonymous = memfd_create("code", 0);
    if (ftruncate(anonymous, 4096))
        return 9;
    map(anonymous, PROT_READ | PROT_EXEC);
    copy(folder, "gone");
    unlink(path);
    copy(folder, "fifo");
    unlink(path);
    mkfifo(path, 0600);
    copy(folder, "loop");
    unlink(path);
    if (symlink("loop", path))
        return 9;
    copy(folder, "folder");
    unlink(path);
    mkdir(path, 0700);
    int huge = copy(folder, "huge"); /* an ELF header and holes */
    if (ftruncate(huge, 1L << 42) && ftruncate(huge, 1L << 33))
        return 9;
    int sparse = copy(folder, "sparse"); /* within what is read */
    if (ftruncate(sparse, 3L << 30))
        return 9;
    int zeros = copy(folder, "zeros");
    if (ftruncate(zeros, 64) || ftruncate(zeros, 1L << 30))
        return 9;
    copy(folder, "secret");
    chmod(path, 0);
    int empty = copy(folder, "empty");
    if (ftruncate(empty, 0))
        return 9;
    for (long i = 0; i < 200000000; i++)
        sum += i;
    return 7;
}
