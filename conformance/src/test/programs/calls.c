/*
 * Waits for a byte, reads and writes a byte N times each, naps ten times, says so, and waits for
 * the end of its input: whoever counts its events knows that none come after the last word.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    struct timespec nap = {0, 1000000};
    int zero = open("/dev/zero", O_RDONLY);
    int null = open("/dev/null", O_WRONLY);
    char c;
    if (zero < 0 || null < 0 || read(0, &c, 1) != 1) {
        return 1;
    }
    for (long i = 0; i < rounds; i++) {
        if (read(zero, &c, 1) != 1 || write(null, &c, 1) != 1) {
            return 1;
        }
    }
    for (int i = 0; i < 10; i++) {
        nanosleep(&nap, 0);
    }
    printf("rounds %ld\n", rounds);
    fflush(stdout);
    return read(0, &c, 1) == 0 ? 0 : 1;
}
