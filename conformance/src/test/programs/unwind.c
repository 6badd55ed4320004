/*
 * Burns CPU time in functions that are hard to leave, the same in each, and says for each what
 * called it: "chain NAME inner<outer<...<main". For the test of unwinding by call frame information.
 *
 *     unwind MILLISECONDS LIBRARY
 *
 * LIBRARY is this file, compiled with -DLIBRARY as a shared one; it is loaded by dlopen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OWN __attribute__((noinline, noclone))
/* Keeps calls from becoming jumps. */
#define AFTER __asm__ volatile("" ::: "memory")

static volatile unsigned long sink;

/* Milliseconds on a CPU, so that every function has its samples on a busy machine too. */
static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* All time goes here; the clock is asked rarely, so that few samples lie in it. */
#define BURN(name) \
	OWN void name(long ms) \
	{ \
		long end = now() + ms; \
		do { \
			for (unsigned long i = 0; i < 1000000; i++) \
				sink += i * i; \
		} while (now() < end); \
	}

#ifdef LIBRARY

BURN(burn_library)

OWN void library_calls(void (*back)(long), long ms)
{
	burn_library(ms / 2);
	AFTER;
	back(ms / 2);
	AFTER;
}

#else

BURN(burn_plain)
BURN(burn_alloca)
BURN(burn_aligned)
BURN(burn_deep)
BURN(burn_handler)
BURN(burn_noreturn)
BURN(burn_callback)
BURN(burn_asm)
BURN(burn_pointer)

OWN void plain_inner(long ms) { burn_plain(ms); AFTER; }
OWN void plain_outer(long ms) { plain_inner(ms); AFTER; }

/* The frame's size is not known: the CFA hangs on a register. */
OWN void with_alloca(long ms, int size)
{
	volatile char *room = __builtin_alloca(size);
	room[size / 2] = 1;
	burn_alloca(ms);
	sink += room[size / 2];
}

/* The stack is aligned anew: the CFA is an expression. */
OWN void aligned(long ms, int size)
{
	volatile char lines[128] __attribute__((aligned(64)));
	volatile char *room = __builtin_alloca(size);
	lines[5] = room[0] = 1;
	burn_aligned(ms);
	sink += lines[5] + room[0] + ((uintptr_t)lines & 63);
}

OWN int deep(long ms, int depth)
{
	if (depth == 0) {
		burn_deep(ms);
		AFTER;
		return 1;
	}
	int result = deep(ms, depth - 1) + 1;
	AFTER;
	return result;
}

static long handler_ms;

static void handler(int signal)
{
	(void)signal;
	burn_handler(handler_ms);
	AFTER;
}

OWN void interrupted(long ms)
{
	handler_ms = ms;
	raise(SIGUSR1);
	AFTER;
}

/* Behind the call of a function that never returns lies another function. */
static jmp_buf back;

__attribute__((noreturn)) OWN void never_returns(long ms)
{
	burn_noreturn(ms);
	longjmp(back, 1);
}

OWN void calls_noreturn(long ms)
{
	never_returns(ms);
}

OWN void called_back(long ms) { burn_callback(ms); AFTER; }

OWN void through_pointer(void (*volatile f)(long), long ms) { f(ms); AFTER; }

#if defined(__x86_64__)
/* A frame that no compiler makes: the return address is reached through rbx. */
__asm__(".text\n"
	".type by_hand, @function\n"
	"by_hand:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset rbx, -16\n"
	"	mov %rsp, %rbx\n"
	"	.cfi_def_cfa_register rbx\n"
	"	sub $4096, %rsp\n"
	"	and $-256, %rsp\n"
	"	call burn_asm@PLT\n"
	"	mov %rbx, %rsp\n"
	"	.cfi_def_cfa_register rsp\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size by_hand, .-by_hand\n");
#else
OWN void by_hand(long ms) { burn_asm(ms); AFTER; }
#endif
void by_hand(long ms);

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 100;
	int size = 100 + argc;
	puts("chain burn_plain plain_inner<plain_outer<main");
	plain_outer(ms);
	puts("chain burn_alloca with_alloca<main");
	with_alloca(ms, size);
	puts("chain burn_aligned aligned<main");
	aligned(ms, size);
	printf("chain burn_deep deep");
	for (int i = 0; i < 40; i++)
		printf("<deep");
	puts("<main");
	deep(ms, 40);
	signal(SIGUSR1, handler);
	puts("chain burn_handler handler<*<interrupted<main");
	interrupted(ms);
	puts("chain burn_noreturn never_returns<calls_noreturn<main");
	if (!setjmp(back))
		calls_noreturn(ms);
	puts("chain burn_pointer through_pointer<main");
	through_pointer(burn_pointer, ms);
	puts("chain burn_asm by_hand<main");
	by_hand(ms);
	void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	if (library) {
		void (*calls)(void (*)(long), long) =
			(void (*)(void (*)(long), long))dlsym(library, "library_calls");
		puts("chain burn_library library_calls<main");
		puts("chain burn_callback called_back<library_calls<main");
		calls(called_back, 2 * ms);
	}
	return sink == 42;
}

#endif
