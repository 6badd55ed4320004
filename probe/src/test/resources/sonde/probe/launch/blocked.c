/* Blocks SIGUSR1, SIGTERM and a real-time signal, then executes its arguments. */
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGRTMIN + 3);
    sigprocmask(SIG_BLOCK, &set, 0);
    execvp(argv[1], argv + 1);
    return 99 + argc * 0;
}
