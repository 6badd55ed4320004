// The library that `sonde heap --tier in-process` puts into a program (LD_PRELOAD). It counts all
// calls, and samples blocks by bytes: the distances between samples are exponentially distributed,
// so a block of s bytes is taken with the probability 1 - exp(-s / interval), and stands for the
// inverse of that many blocks. For a sampled block it calls two functions that do nothing: sonde's
// uprobes are there, and the kernel unwinds the stack.
//
// It is linked without a libc: its undefined names have no versions, so any glibc has them, and it
// finds the allocator that the program would have used by the list of libraries.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OUT __attribute__((visibility("default")))
#define RARE(x) __builtin_expect(!!(x), 0)

// What sonde reads: a head, then the counts of each thread. HeapLibrary knows the layout.
#define MOST_THREADS 4096
struct counts {
    _Atomic uint64_t calls, bytes, frees, failed, unused[4];
};
struct head {
    _Atomic uint64_t loaded, threads, dropped, unused[5];
    struct counts of[MOST_THREADS];
};

// Addresses of sampled blocks, in buckets of one cache line.
#define BUCKETS (1 << 13)
#define IN_BUCKET 8
static _Alignas(64) _Atomic uintptr_t sampled[BUCKETS][IN_BUCKET];
static size_t sizes[BUCKETS][IN_BUCKET];

static struct head nowhere;
static struct head *_Atomic head = &nowhere;
static uint64_t interval = 512 << 10;
static void *(*real_malloc)(size_t);
static void (*real_free)(void *);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_memalign)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static void *(*real_valloc)(size_t);
static void *(*real_pvalloc)(size_t);
static _Atomic int ready;

static __thread int64_t left;
static __thread uint64_t seed;
static __thread struct counts *mine;

extern struct r_debug _r_debug;
extern char **environ;
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *)
    __attribute__((weak));

OUT __attribute__((noinline, used)) void sonde_heap_made(void *block, uint64_t bytes,
                                                         uint64_t blocks) {
    __asm__ volatile("" ::"r"(block), "r"(bytes), "r"(blocks) : "memory");
}

OUT __attribute__((noinline, used)) void sonde_heap_freed(void *block) {
    __asm__ volatile("" ::"r"(block) : "memory");
}

static int same(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static const void *at(const struct link_map *map, ElfW(Addr) pointer) {
    return (const void *)(pointer < map->l_addr ? map->l_addr + pointer : pointer);
}

// How many symbols a table has: DT_GNU_HASH states it in its chains alone.
static uint32_t symbols(const uint32_t *gnu, const uint32_t *sysv) {
    if (sysv) {
        return sysv[1];
    }
    if (!gnu) {
        return 0;
    }
    const uint32_t *buckets = gnu + 4 + gnu[2] * (sizeof(size_t) / 4);
    uint32_t last = 0;
    for (uint32_t i = 0; i < gnu[0]; i++) {
        last = buckets[i] > last ? buckets[i] : last;
    }
    if (last < gnu[1]) {
        return gnu[1];
    }
    const uint32_t *chain = buckets + gnu[0];
    while (!(chain[last - gnu[1]] & 1)) {
        last++;
    }
    return last + 1;
}

static void *find(const struct link_map *map, const char *name) {
    for (; map; map = map->l_next) {
        const ElfW(Sym) *table = 0;
        const char *names = 0;
        const uint32_t *gnu = 0, *sysv = 0;
        for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag; entry++) {
            switch (entry->d_tag) {
                case DT_SYMTAB: table = at(map, entry->d_un.d_ptr); break;
                case DT_STRTAB: names = at(map, entry->d_un.d_ptr); break;
                case DT_GNU_HASH: gnu = at(map, entry->d_un.d_ptr); break;
                case DT_HASH: sysv = at(map, entry->d_un.d_ptr); break;
            }
        }
        uint32_t count = table && names ? symbols(gnu, sysv) : 0;
        for (uint32_t i = 1; i < count; i++) {
            const ElfW(Sym) *symbol = &table[i];
            if (symbol->st_shndx != SHN_UNDEF && (symbol->st_info & 15) == STT_FUNC
                && same(names + symbol->st_name, name)) {
                return (void *)(map->l_addr + symbol->st_value);
            }
        }
    }
    return 0;
}

static void forked(void) {
    atomic_store(&head, &nowhere); // the counts are those of the parent
}

// Removes a variable, or what follows its '=' up to the first ':'.
static void forget(const char *name, size_t length, int first_only) {
    for (char **from = environ, **to = environ; from && (*to = *from); from++) {
        if (strncmp(*from, name, length) == 0) {
            char *rest = first_only ? strchr(*from + length, ':') : 0;
            if (rest) {
                memmove(*from + length, rest + 1, strlen(rest + 1) + 1);
                to++;
            }
        } else {
            to++;
        }
    }
}

static uint64_t number(const char *text) {
    uint64_t value = 0;
    while (*text >= '0' && *text <= '9') {
        value = 10 * value + (*text++ - '0');
    }
    return value;
}

static void begin(void) {
    int kept = errno;
    const struct link_map *next = _r_debug.r_map;
    while (next && next->l_ld != _DYNAMIC) {
        next = next->l_next;
    }
    next = next ? next->l_next : 0;
    real_free = find(next, "free");
    real_calloc = find(next, "calloc");
    real_realloc = find(next, "realloc");
    real_memalign = find(next, "memalign");
    real_posix_memalign = find(next, "posix_memalign");
    real_aligned_alloc = find(next, "aligned_alloc");
    real_valloc = find(next, "valloc");
    real_pvalloc = find(next, "pvalloc");
    real_malloc = find(next, "malloc");
    atomic_store(&ready, 1);
    errno = kept;
}

// Behind the libraries' start, when the environment is there.
__attribute__((constructor)) static void start(void) {
    int kept = errno;
    if (!ready) {
        begin();
    }
    for (char **one = environ; one && *one; one++) {
        if (strncmp(*one, "SONDE_HEAP=", 11) == 0) {
            interval = number(*one + 11);
            interval = interval ? interval : 1;
            const char *path = strchr(*one, ':');
            int fd = path ? open(path + 1, O_RDWR | O_CLOEXEC) : -1;
            if (fd >= 0) {
                void *shared = mmap(0, sizeof(struct head), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
                if (shared != MAP_FAILED) {
                    atomic_store(&head, (struct head *)shared);
                    atomic_store(&((struct head *)shared)->loaded, 1);
                }
                close(fd);
            }
            break;
        }
    }
    // A program that this one executes starts without the library.
    forget("LD_PRELOAD=", 11, 1);
    forget("SONDE_HEAP=", 11, 0);
    mine = 0;
    if (__register_atfork) {
        __register_atfork(0, 0, forked, 0);
    }
    errno = kept;
}

static struct counts *counts(void) {
    struct head *now = atomic_load_explicit(&head, memory_order_relaxed);
    struct counts *known = mine;
    if (RARE(!known || known < now->of || known >= now->of + MOST_THREADS)) {
        uint64_t thread = atomic_fetch_add(&now->threads, 1);
        mine = known = &now->of[thread < MOST_THREADS ? thread : MOST_THREADS - 1];
    }
    return known;
}

// One thread writes a place, but the last one, which the late threads share.
static inline void add(_Atomic uint64_t *place, uint64_t amount, int shared) {
    if (RARE(shared)) {
        atomic_fetch_add(place, amount);
    } else {
        uint64_t old = atomic_load_explicit(place, memory_order_relaxed);
        atomic_store_explicit(place, old + amount, memory_order_relaxed);
    }
}

static inline int is_shared(const struct counts *of) {
    return of == &atomic_load_explicit(&head, memory_order_relaxed)->of[MOST_THREADS - 1];
}

static double logarithm(double x) { // 0 < x <= 1
    union {
        double d;
        uint64_t u;
    } bits = {x};
    int exponent = (int)(bits.u >> 52) - 1022;
    bits.u = (bits.u & 0xfffffffffffffULL) | 0x3fe0000000000000ULL; // 0.5 to 1
    double z = (bits.d - 1) / (bits.d + 1), square = z * z, term = z, sum = 0;
    for (int i = 1; i < 40; i += 2) {
        sum += term / i;
        term *= square;
    }
    return 2 * sum + exponent * 0.69314718055994530942;
}

static double rest(double x) { // 1 - exp(-x)
    if (x > 40) {
        return 1;
    }
    double small = x / 1024, power = small, sum = 0;
    for (int i = 2; i < 8; i++) { // of 1 - exp(-small)
        sum += i % 2 == 0 ? power : -power;
        power *= small / i;
    }
    for (int i = 0; i < 10; i++) {
        sum = sum * (2 - sum);
    }
    return sum;
}

static int64_t distance(void) {
    if (interval <= 1) {
        return 0;
    }
    if (!seed) {
        // Addresses differ between threads and, by the kernel's randomisation, between runs.
        seed = ((uintptr_t)&seed ^ (uintptr_t)environ << 20) | 1;
        seed *= 0x9e3779b97f4a7c15ULL;
    }
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    double uniform = ((seed * 0x2545f4914f6cdd1dULL >> 11) + 1) * (1.0 / 9007199254740992.0);
    return (int64_t)(-logarithm(uniform) * interval);
}

static inline size_t bucket(uintptr_t address) {
    return (address * 0x9e3779b97f4a7c15ULL) >> (64 - 13);
}

static void take(void *block, size_t size) {
    size_t in = bucket((uintptr_t)block);
    for (int i = 0; i < IN_BUCKET; i++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&sampled[in][i], &none, (uintptr_t)block)) {
            sizes[in][i] = size;
            double stands = interval <= 1 || !size ? 1 : 1 / rest((double)size / interval);
            sonde_heap_made(block, (uint64_t)(size * stands + 0.5), (uint64_t)(stands + 0.5));
            return;
        }
    }
    atomic_fetch_add(&atomic_load(&head)->dropped, 1);
}

static __attribute__((noinline)) void sample(void *block, size_t size) {
    if (!seed && interval > 1) { // the thread's first call
        left = distance() - (int64_t)size;
        if (left >= 0) {
            return;
        }
    }
    left = distance();
    take(block, size);
}

static inline void *made(void *block, size_t size) {
    struct counts *of = counts();
    int shared = is_shared(of);
    if (RARE(!block)) {
        add(&of->failed, 1, shared);
        return block;
    }
    add(&of->calls, 1, shared);
    add(&of->bytes, size, shared);
    if (RARE((left -= (int64_t)size) < 0 || interval <= 1)) {
        sample(block, size);
    }
    return block;
}

// The size of a block that was sampled; -1 for others.
static inline ptrdiff_t gone(void *block) {
    struct counts *of = counts();
    add(&of->frees, 1, is_shared(of));
    size_t in = bucket((uintptr_t)block);
    for (int i = 0; i < IN_BUCKET; i++) {
        if (RARE(atomic_load_explicit(&sampled[in][i], memory_order_relaxed) == (uintptr_t)block)) {
            ptrdiff_t size = sizes[in][i];
            sonde_heap_freed(block);
            atomic_store(&sampled[in][i], 0);
            return size;
        }
    }
    return -1;
}

static inline void prepare(void) {
    if (RARE(!atomic_load_explicit(&ready, memory_order_acquire))) {
        begin();
    }
}

OUT void *malloc(size_t size) {
    prepare();
    return made(real_malloc(size), size);
}

OUT void free(void *block) {
    prepare();
    if (block) {
        gone(block);
        real_free(block);
    }
}

OUT void *calloc(size_t count, size_t size) {
    prepare();
    return made(real_calloc(count, size), count * size);
}

OUT void *realloc(void *block, size_t size) {
    prepare();
    // Before the call: afterwards another thread may have the address.
    ptrdiff_t old = block ? gone(block) : -1;
    void *other = real_realloc(block, size);
    if (other || size == 0) {
        return other ? made(other, size) : other;
    }
    if (old >= 0) {
        take(block, old); // the block is still there
    }
    return made(other, size);
}

OUT void *reallocarray(void *block, size_t count, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return 0;
    }
    return realloc(block, all);
}

OUT int posix_memalign(void **place, size_t alignment, size_t size) {
    prepare();
    int result = real_posix_memalign(place, alignment, size);
    if (result == 0) {
        made(*place, size);
    }
    return result;
}

OUT void *aligned_alloc(size_t alignment, size_t size) {
    prepare();
    return made(real_aligned_alloc(alignment, size), size);
}

OUT void *memalign(size_t alignment, size_t size) {
    prepare();
    return made(real_memalign(alignment, size), size);
}

OUT void *valloc(size_t size) {
    prepare();
    return made(real_valloc(size), size);
}

OUT void *pvalloc(size_t size) {
    prepare();
    return made(real_pvalloc(size), size);
}
