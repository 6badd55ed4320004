// Stacks that are not those of main: each burn_NAME spends its time below callers that are known.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define OWN __attribute__((noinline, noclone))
#define BURN(name)                                                                     \
    OWN long burn_##name(long n) { for (long i = 0; i < n; i++) sink += i; return sink; } \
    OWN long way_##name(long n) { volatile char room[99]; room[n & 7] = 1;               \
        return burn_##name(n) + room[2]; }
static volatile long sink;
static long much = 120000000;

BURN(coroutine)
static ucontext_t outside, inside;
OWN void coroutine(void) { sink += way_coroutine(much); }
OWN void coroutines(void) {
    getcontext(&inside);
    inside.uc_stack.ss_sp = malloc(1 << 16);
    inside.uc_stack.ss_size = 1 << 16;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
    sink++;
}

BURN(handler)
OWN void handler(int s) { sink += way_handler(much + s); }
OWN void interrupted(void) { raise(SIGUSR1); sink++; }
OWN void alternate(void) {
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    interrupted();
    sink++;
}

BURN(vfork)
OWN void forks(void) {
    if (vfork() == 0) { way_vfork(much); _exit(0); }
    wait(0);
}

BURN(tiny)
OWN void *tiny(void *p) { sink += way_tiny(much); return p; }
OWN void threads(void) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 16384);
    pthread_t thread;
    pthread_create(&thread, &attr, tiny, 0);
    pthread_join(thread, 0);
}

BURN(jump)
static jmp_buf back;
OWN void deeper(long n) { volatile char room[999]; room[n] = 1; longjmp(back, 1); }
OWN void jumps(void) {
    if (!setjmp(back)) deeper(5);
    sink += way_jump(much);
}

int main(void) {
    coroutines(); alternate(); forks(); threads(); jumps();
    return 0;
}
