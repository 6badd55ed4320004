package sonde.probe.kmem;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.symbol.KernelSymbols;
import sonde.sys.MachineFacts;

/**
 * Looks into the slabs of the kernel (mm/slub.c): which cache an object belongs to, and whether it
 * is on the list of free objects of its slab. So a free is seen that no event told of: those in
 * bulk, and those that wait for RCU in batches.
 *
 * <p>Objects of the direct map and their struct slab lie in the same order, so one slab whose place
 * is known tells the places of all.
 */
public final class SlabMemory {
    /** What the slab says of an object. */
    public enum ObjectState {
        FREED,
        ALLOCATED,
        /** The slab is in use by a CPU at this moment, or its memory is not that of a slab. */
        UNKNOWN
    }

    /**
     * A cache.
     *
     * @param merged whether other caches of its size have their objects in it, too
     * @param objectBytes what an object has, without padding
     * @param reclaimable whether the kernel takes its objects back when memory runs short
     */
    public record SlabCache(
            long address,
            String name,
            boolean merged,
            int sizeBytes,
            int objectBytes,
            boolean reclaimable) {}

    private static final int PAGE = 4096;
    private static final int MOST_CACHES = 4096;
    private static final int MOST_NAME = 128;
    private static final String SYSFS = "/sys/kernel/slab/";

    /** SLAB_RECLAIM_ACCOUNT has moved among the flags; sysfs tells it in all kernels. */
    private static final String RECLAIM = "/reclaim_account";

    private final KernelPeek peek;
    private final Map<String, Integer> offsets = new HashMap<>();
    private final Map<Long, Optional<SlabCache>> caches = new HashMap<>();
    private final Map<Long, SlabView> views = new HashMap<>();
    private final int pageStruct;
    private final boolean hardened;

    /** The kernel's array of what is added to a per-CPU address; 0 where kallsyms lacks it. */
    private final long cpuOffsets;

    private long knownSlab;
    private long knownPage;

    /** A slab as it was when it was read. */
    private record SlabView(long cache, Set<Long> free, boolean whole) {}

    SlabMemory(KernelPeek peek, Btf btf, KernelSymbols symbols) throws IOException {
        this.peek = peek;
        cpuOffsets = symbols.addressOf("__per_cpu_offset");
        for (String member :
                new String[] {
                    "kmem_cache.size",
                    "kmem_cache.object_size",
                    "kmem_cache.offset",
                    "kmem_cache.name",
                    "kmem_cache.list",
                    "kmem_cache.node",
                    "kmem_cache_node.partial",
                    "slab.slab_cache",
                    "slab.slab_list",
                    "slab.freelist",
                    "slab.counters",
                    "page.compound_head",
                    "page.mapping",
                    "kmem_cache.refcount",
                    "kmem_cache.cpu_slab",
                    "kmem_cache_cpu.slab",
                    "kmem_cache_cpu.freelist",
                    "page._refcount"
                }) {
            offset(btf, member).ifPresent(at -> offsets.put(member, at));
        }
        Optional<Integer> random = offset(btf, "kmem_cache.random");
        hardened = random.isPresent();
        random.ifPresent(at -> offsets.put("kmem_cache.random", at));
        pageStruct = btf.struct("page").map(BtfType.Struct::sizeBytes).orElse(0);
    }

    private static Optional<Integer> offset(Btf btf, String member) throws IOException {
        int dot = member.indexOf('.');
        Optional<BtfType.Struct> struct = btf.struct(member.substring(0, dot));
        return struct.isEmpty()
                ? Optional.empty()
                : btf.member(struct.get(), member.substring(dot + 1))
                        .map(found -> found.bitOffset() / 8);
    }

    private int at(String member) {
        return offsets.getOrDefault(member, 0);
    }

    /** Whether the places of slabs are known; looked for from a cache on that an event named. */
    boolean locate(long aCache) throws IOException {
        if (knownSlab != 0) {
            return true;
        }
        boolean named = offsets.containsKey("slab.slab_cache") && pageStruct > 0;
        long cache = aCache;
        for (int i = 0; named && i < MOST_CACHES && cache != 0 && knownSlab == 0; i++) {
            locateBy(cache);
            cache = peek.word(cache + at("kmem_cache.list")) - at("kmem_cache.list");
            if (cache == aCache) {
                break;
            }
        }
        return knownSlab != 0;
    }

    /** By a slab of the cache's list of those that have free objects. */
    private void locateBy(long cache) throws IOException {
        long node = peek.word(cache + at("kmem_cache.node"));
        long head = node + at("kmem_cache_node.partial");
        long link = node == 0 ? 0 : peek.word(head);
        long slab = link - at("slab.slab_list");
        if (link == 0 || link == head || peek.word(slab + at("slab.slab_cache")) != cache) {
            return;
        }
        long free = peek.word(slab + at("slab.freelist"));
        int objects = (int) (peek.word(slab + at("slab.counters")) >>> 16 & 0x7fff);
        MemorySegment found = peek.read(cache, at("kmem_cache.object_size") + 8);
        if (free == 0 || found == null) {
            return;
        }
        // A slab of some pages begins at a multiple of its size.
        long bytes = (long) objects * found.get(JAVA_INT, at("kmem_cache.size"));
        long span = Math.max(PAGE, Long.highestOneBit(Math.max(1, bytes - 1)) << 1);
        knownSlab = slab;
        knownPage = free & -span;
    }

    private long pageOf(long address) {
        return knownSlab + ((address & -PAGE) - knownPage) / PAGE * pageStruct;
    }

    /** The address of what a struct page stands for. */
    private long addressOf(long page) {
        return knownPage + (page - knownSlab) / pageStruct * PAGE;
    }

    /** The struct slab that holds an object. */
    private long slabOf(long address) throws IOException {
        long page = pageOf(address);
        long head = peek.word(page + at("page.compound_head"));
        return (head & 1) != 0 ? head - 1 : page;
    }

    /** The cache that an object is in; empty when it is in none, or that cannot be told. */
    public Optional<SlabCache> cacheOf(long address) throws IOException {
        if (knownSlab == 0) {
            return Optional.empty();
        }
        return cache(peek.word(slabOf(address) + at("slab.slab_cache")));
    }

    /** A cache by its address, as it was when it was first asked for. */
    public Optional<SlabCache> cache(long address) throws IOException {
        Optional<SlabCache> known = caches.get(address);
        if (known == null) {
            known = Optional.ofNullable(readCache(address));
            caches.put(address, known);
        }
        return known;
    }

    private @Nullable SlabCache readCache(long address) throws IOException {
        MemorySegment found = peek.read(address, at("kmem_cache.name") + 8);
        if (address >= 0 || found == null) {
            return null;
        }
        int size = found.get(JAVA_INT, at("kmem_cache.size"));
        int object = found.get(JAVA_INT, at("kmem_cache.object_size"));
        boolean merged = found.get(JAVA_INT, at("kmem_cache.refcount")) > 1;
        MemorySegment text = peek.read(found.get(JAVA_LONG, at("kmem_cache.name")), MOST_NAME);
        if (text == null || size <= 0 || object <= 0 || object > size) {
            return null;
        }
        byte[] bytes = text.toArray(JAVA_BYTE);
        int end = 0;
        while (end < bytes.length && bytes[end] > ' ') {
            end++;
        }
        String name = new String(bytes, 0, end, StandardCharsets.US_ASCII);
        return name.isEmpty()
                ? null
                : new SlabCache(address, name, merged, size, object, isReclaimable(name));
    }

    private static boolean isReclaimable(String name) {
        try {
            return !name.contains("/")
                    && Files.readString(Path.of(SYSFS + name + RECLAIM)).strip().equals("1");
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Lets the allocator put free objects that CPUs hold back into their slabs, so that the slabs
     * tell of them; what was read before is forgotten.
     */
    public void settle(SlabCache cache) {
        views.clear();
        if (cache.name().contains("/")) {
            return;
        }
        try {
            Files.writeString(Path.of(SYSFS + cache.name() + "/shrink"), "1");
        } catch (IOException e) {
            return; // without it more objects are of an unknown state
        }
    }

    /** What the slab of an object says of it. */
    public ObjectState state(long address, SlabCache cache) throws IOException {
        if (knownSlab == 0) {
            return ObjectState.UNKNOWN;
        }
        long slab = slabOf(address);
        SlabView view = views.get(slab);
        if (view == null) {
            view = read(slab);
            views.put(slab, view);
        }
        if (view.cache != cache.address()) {
            return ObjectState.FREED; // the whole slab was given back
        }
        return view.free.contains(address)
                ? ObjectState.FREED
                : view.whole ? ObjectState.ALLOCATED : ObjectState.UNKNOWN;
    }

    private SlabView read(long slab) throws IOException {
        Set<Long> free = new HashSet<>();
        int bytes = at("slab.counters") + 8;
        MemorySegment head = peek.read(slab, bytes);
        if (head == null) {
            return new SlabView(0, free, false);
        }
        long cache = head.get(JAVA_LONG, at("slab.slab_cache"));
        long next = head.get(JAVA_LONG, at("slab.freelist"));
        // struct slab: inuse 16 bits, objects 15, frozen 1.
        int counters = head.get(JAVA_INT, at("slab.counters"));
        int objects = counters >>> 16 & 0x7fff;
        int unused = objects - (counters & 0xffff);
        boolean frozen = counters < 0;
        if (cache >= 0 || cache(cache).isEmpty()) {
            return new SlabView(cache, free, false);
        }
        long random = hardened ? peek.word(cache + at("kmem_cache.random")) : 0;
        MemorySegment fields = peek.read(cache, at("kmem_cache.offset") + 4);
        int link = fields == null ? 0 : fields.get(JAVA_INT, at("kmem_cache.offset"));
        int span = Math.multiplyExact(objects, cache(cache).orElseThrow().sizeBytes());
        long first = addressOf(slab);
        MemorySegment memory = peek.read(first, span);
        FreeList list = new FreeList(memory, first, link, random);
        boolean ended = list.walk(next, unused, free);
        boolean whole = ended && free.size() == unused;
        if (frozen && whole) {
            // The list of the CPU that takes objects from this slab.
            whole = addFreeOfCpu(cache, slab, list, objects, free);
        }
        return new SlabView(cache, free, whole);
    }

    /** The objects of a slab, each free one with the place of the next in it. */
    private final class FreeList {
        private final @Nullable MemorySegment memory;
        private final long first;
        private final int link;
        private final long random;

        private FreeList(@Nullable MemorySegment memory, long first, int link, long random) {
            // What was read is valid until the next look alone.
            this.memory = memory == null ? null : MemorySegment.ofArray(memory.toArray(JAVA_BYTE));
            this.first = first;
            this.link = link;
            this.random = random;
        }

        /** Adds what is on the list; false when it does not end after at most so many objects. */
        private boolean walk(long begin, int most, Set<Long> free) {
            long next = begin;
            for (int i = 0; i < most && next != 0; i++) {
                long at = next - first + link;
                if (memory == null || at < 0 || at + 8 > memory.byteSize() || !free.add(next)) {
                    return false;
                }
                long stored = memory.get(JAVA_LONG_UNALIGNED, at);
                // CONFIG_SLAB_FREELIST_HARDENED: freelist_ptr() of mm/slub.c
                next = hardened ? stored ^ random ^ Long.reverseBytes(next + link) : stored;
            }
            return next == 0;
        }
    }

    /** Whether the lists of all CPUs could be read and did not change meanwhile. */
    private boolean addFreeOfCpu(long cache, long slab, FreeList list, int objects, Set<Long> free)
            throws IOException {
        long perCpu = peek.word(cache + at("kmem_cache.cpu_slab"));
        if (cpuOffsets == 0 || !offsets.containsKey("kmem_cache_cpu.slab")) {
            return false;
        }
        for (int cpu : MachineFacts.possibleCpus().stream().toArray()) {
            long own = peek.word(cpuOffsets + 8L * cpu) + perCpu;
            if (peek.word(own + at("kmem_cache_cpu.slab")) != slab) {
                continue;
            }
            long begin = peek.word(own + at("kmem_cache_cpu.freelist"));
            return list.walk(begin, objects, free)
                    && peek.word(own + at("kmem_cache_cpu.freelist")) == begin
                    && peek.word(own + at("kmem_cache_cpu.slab")) == slab;
        }
        return peek.word(slab + at("slab.counters")) << 32 < 0; // a slab that waits for its CPU
    }

    /** What a page is used for. */
    public enum PageUse {
        FREE,
        /** Memory of a file or a process. */
        MAPPED,
        KERNEL
    }

    /** What the page of a struct page is used for now. */
    public PageUse use(long page) throws IOException {
        MemorySegment found = peek.read(page, pageStruct);
        if (found == null) {
            return PageUse.KERNEL;
        }
        return found.get(JAVA_INT, at("page._refcount")) == 0
                ? PageUse.FREE
                : found.get(JAVA_LONG, at("page.mapping")) != 0 ? PageUse.MAPPED : PageUse.KERNEL;
    }
}
