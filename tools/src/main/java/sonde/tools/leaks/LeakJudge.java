package sonde.tools.leaks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import sonde.event.result.Frame;
import sonde.probe.kmem.AllocationKind;
import sonde.probe.kmem.KmemSession;
import sonde.probe.kmem.KmemSession.LiveKey;
import sonde.probe.kmem.SlabMemory;
import sonde.probe.kmem.SlabMemory.ObjectState;
import sonde.probe.kmem.SlabMemory.PageUse;
import sonde.probe.kmem.SlabMemory.SlabCache;
import sonde.sys.MachineFacts;
import sonde.sys.ResourceTable;
import sonde.tools.leaks.UnfreedObjects.LeakVerdict;

/** Says which of the objects that no event freed are leaks, and which are not, and why. */
final class LeakJudge {
    /** KMALLOC_MAX_CACHE_SIZE of mm/slub.c: larger ones are whole pages. */
    private static final int LARGEST_SLAB_OBJECT = 8192;

    /** An interrupt may take a slab into use between two looks. */
    private static final int LOOKS = 6;

    /** Of how many periods objects of a leak are left, at least. */
    private static final double GROWING = 0.6;

    private static final Pattern INTERRUPT =
            Pattern.compile(
                    "_*do_softirq.*|handle_softirqs|__irq_exit_rcu|irq_exit_rcu|sysvec_.*"
                            + "|asm_sysvec_.*|common_interrupt|asm_common_interrupt|gic_handle_irq"
                            + "|net_rx_action|run_ksoftirqd");

    /** Pages that slabs, large kmallocs, vmalloc and per-CPU memory are made of. */
    private static final Pattern INNER =
            Pattern.compile(
                    "(___?)?(slab_alloc|kmem_cache_alloc|kmalloc|do_kmalloc).*|allocate_slab"
                            + "|new_slab.*|alloc_slab_page.*|__vmalloc_(node_range|area_node).*"
                            + "|vm_area_alloc_pages.*|pcpu_(populate_chunk|alloc_pages).*"
                            + "|__kmalloc_large.*|refill_objects|__prefill_sheaf.*|alloc_.*sheaf.*");

    private static final Pattern PACKET =
            Pattern.compile("(__)?(alloc_skb|netdev_alloc_skb|napi_alloc_skb|build_skb)\\w*");

    /**
     * Packets that a CPU may hold back: skb_defer_max, 128 at most, and NAPI_SKB_CACHE_SIZE, 64
     * (net/core/skbuff.c).
     */
    private static final int PACKETS = 192;

    /** What a process has as long as it runs. */
    private static final Pattern PROCESS =
            Pattern.compile(
                    "copy_process|do_mmap|__mmap_region|mmap_region|handle_mm_fault|mm_init"
                            + "|alloc_bprm|bprm_execve|load_elf_binary|do_execveat_common.*"
                            + "|do_brk_flags|mprotect_fixup|do_vmi_munmap|do_vmi_align_munmap"
                            + "|__get_user_pages|begin_new_exec|exec_mmap");

    private record Kept(Pattern functions, String reason) {}

    private static final List<Kept> KEPT =
            ResourceTable.lines(LeakJudge.class.getResourceAsStream("kept.txt")).stream()
                    .map(line -> line.split("\t", 2))
                    .map(parts -> new Kept(Pattern.compile(parts[0]), parts[1]))
                    .toList();

    private final KmemSession session;
    private final LeakStacks stacks;
    private final LeakFilter filter;
    private final boolean interrupts;
    private final boolean areas;
    private final int periods;
    private final Map<Long, List<Frame>> frames = new HashMap<>();
    private boolean running;

    /**
     * Judges.
     *
     * @param interrupts whether allocations by interrupts count, which belong to no task
     * @param areas whether vmalloc tells of its areas, so that their pages are counted already
     * @param periods for growth: what is left of most of these periods grows; 0 to take all
     */
    LeakJudge(
            KmemSession session,
            LeakStacks stacks,
            LeakFilter filter,
            boolean interrupts,
            boolean areas,
            int periods) {
        this.session = session;
        this.stacks = stacks;
        this.filter = filter;
        this.interrupts = interrupts;
        this.areas = areas;
        this.periods = periods;
    }

    /** Objects of one stack and cache, as they are sorted out. */
    private static final class Gathered {
        private final AllocationKind kind;
        private final List<Frame> frames;
        private String cache = "";
        private String reason = "";
        private final Set<Integer> pids = new TreeSet<>();
        private final Set<Integer> periods = new TreeSet<>();
        private int gfp;
        private long objects;
        private long uncertain;
        private long requested;
        private long used;
        private long least = Long.MAX_VALUE;
        private long most;

        private Gathered(AllocationKind kind, List<Frame> frames) {
            this.kind = kind;
            this.frames = frames;
        }

        private void add(LiveKey key, long size, long used, long count) {
            gfp = key.gfp();
            pids.add(key.pid());
            periods.add(key.period());
            objects += count;
            requested += count * size;
            this.used += count * used;
            least = Math.min(least, size);
            most = Math.max(most, size);
        }

        private UnfreedObjects group(int all, long packets) {
            boolean packet = frames.stream().anyMatch(one -> PACKET.matcher(one.name()).matches());
            if (reason.isEmpty() && packet && objects <= packets) {
                reason = "packets: each CPU keeps freed ones for the next";
            }
            if (reason.isEmpty() && periods.size() < all * GROWING) {
                reason = "memory that came and went, or was allocated once";
            }
            boolean unknown = reason.isEmpty() && uncertain == objects;
            LeakVerdict verdict =
                    !reason.isEmpty()
                            ? LeakVerdict.KEPT
                            : unknown ? LeakVerdict.UNCERTAIN : LeakVerdict.LEAK;
            String why =
                    unknown
                            ? "frees not visible: the events and the slabs do not tell whether"
                                    + " these objects were freed"
                            : reason;
            return new UnfreedObjects(
                    verdict,
                    why,
                    kind,
                    cache,
                    objects,
                    requested,
                    used,
                    least,
                    most,
                    gfp,
                    Set.copyOf(pids),
                    frames);
        }
    }

    /** An object that no event freed; the reason says why it is no leak where it is none. */
    private record Suspect(LiveKey key, String reason) {}

    /** Of one stack and cache; objects of different sizes are together. */
    private record GroupKey(long stack, AllocationKind kind, String cache) {}

    /** What is not freed now, largest first. */
    List<UnfreedObjects> groups() throws IOException {
        SlabMemory slabs = session.slabs();
        running = session.hasTasks();
        // Beneath functions that the user named it counts as anything else.
        long packets =
                filter.isEmpty() ? PACKETS * (long) MachineFacts.onlineCpus().cardinality() : 0;
        Map<GroupKey, Gathered> all = new LinkedHashMap<>();
        Map<SlabCache, Map<Long, Suspect>> unproven = new LinkedHashMap<>();
        for (Map.Entry<LiveKey, KmemSession.LiveObjects> entry : session.live().entrySet()) {
            LiveKey key = entry.getKey();
            List<Frame> shown = frames(key.stack());
            if (!isCounted(key, shown)) {
                continue;
            }
            String reason = reason(key.kind(), shown);
            for (long address : entry.getValue().sorted()) {
                Optional<SlabCache> cache = cache(slabs, key, address);
                String why =
                        reason.isEmpty() && cache.isPresent() && cache.get().reclaimable()
                                ? "cache that shrinks when memory runs short"
                                : reason;
                if (key.kind() == AllocationKind.PAGES) {
                    PageUse use = slabs.use(address);
                    if (use == PageUse.FREE) {
                        continue;
                    }
                    why = use == PageUse.MAPPED ? "memory of files or processes" : why;
                }
                if (cache.isPresent()) {
                    unproven.computeIfAbsent(cache.get(), _ -> new HashMap<>())
                            .put(address, new Suspect(key, why));
                    continue;
                }
                boolean inSlab = key.kind() == AllocationKind.CACHE || isSmall(key);
                add(all, key, cache, shown, 1, why, why.isEmpty() && inSlab);
            }
        }
        for (Map.Entry<SlabCache, Map<Long, Suspect>> entry : unproven.entrySet()) {
            prove(slabs, entry.getKey(), entry.getValue(), all);
        }
        return all.values().stream()
                .map(one -> one.group(periods, packets))
                .sorted(Comparator.comparingLong(UnfreedObjects::used).reversed())
                .toList();
    }

    private static boolean isSmall(LiveKey key) {
        return key.kind() == AllocationKind.KMALLOC && key.allocated() <= LARGEST_SLAB_OBJECT;
    }

    private Optional<SlabCache> cache(SlabMemory slabs, LiveKey key, long address)
            throws IOException {
        return key.cache() != 0
                ? slabs.cache(key.cache())
                : isSmall(key) ? slabs.cacheOf(address) : Optional.empty();
    }

    private void add(
            Map<GroupKey, Gathered> all,
            LiveKey key,
            Optional<SlabCache> cache,
            List<Frame> shown,
            long count,
            String reason,
            boolean uncertain) {
        String name =
                cache.map(one -> one.name() + (one.merged() ? " and merged caches" : ""))
                        .orElse("");
        Gathered gathered =
                all.computeIfAbsent(
                        new GroupKey(key.stack(), key.kind(), name + reason),
                        _ -> new Gathered(key.kind(), shown));
        gathered.cache = name;
        gathered.reason = reason;
        gathered.uncertain += uncertain ? count : 0;
        long size = key.requested();
        if (key.kind() == AllocationKind.CACHE) {
            size = cache.map(SlabCache::objectBytes).orElse(0);
        }
        long used =
                key.allocated() > 0 ? key.allocated() : cache.map(SlabCache::sizeBytes).orElse(0);
        gathered.add(key, size, Math.max(size, used), count);
    }

    /** Objects that their slab has among its free ones are forgotten; the others are leaks. */
    private void prove(
            SlabMemory slabs,
            SlabCache cache,
            Map<Long, Suspect> objects,
            Map<GroupKey, Gathered> all)
            throws IOException {
        Set<Long> freed = new HashSet<>();
        Map<Long, Suspect> open = new HashMap<>(objects);
        for (int look = 0; look < LOOKS && !open.isEmpty(); look++) {
            slabs.settle(cache);
            List<Long> done = new ArrayList<>();
            for (Map.Entry<Long, Suspect> entry : open.entrySet()) {
                ObjectState state = slabs.state(entry.getKey(), cache);
                if (state == ObjectState.UNKNOWN) {
                    continue;
                }
                done.add(entry.getKey());
                if (state == ObjectState.FREED) {
                    freed.add(entry.getKey());
                } else {
                    add(all, entry.getValue(), cache, false);
                }
            }
            done.forEach(open::remove);
        }
        for (Suspect suspect : open.values()) {
            add(all, suspect, cache, true);
        }
        session.forget(freed);
    }

    private void add(
            Map<GroupKey, Gathered> all, Suspect suspect, SlabCache cache, boolean uncertain)
            throws IOException {
        LiveKey key = suspect.key();
        List<Frame> shown = frames(key.stack());
        add(all, key, Optional.of(cache), shown, 1, suspect.reason(), uncertain);
    }

    private List<Frame> frames(long stack) throws IOException {
        List<Frame> known = frames.get(stack);
        if (known == null) {
            known = stacks.frames(session.stack(stack));
            frames.put(stack, known);
        }
        return known;
    }

    private boolean isCounted(LiveKey key, List<Frame> shown) {
        boolean inner =
                switch (key.kind()) {
                    case PAGES -> shown.stream().anyMatch(this::isInner);
                    case KMALLOC, CACHE -> shown.stream().anyMatch(this::isAreaNode);
                    case PER_CPU, VMALLOC -> false;
                };
        if (inner) {
            return false;
        }
        return filter.passes(shown)
                && (interrupts
                        || !filter.isEmpty()
                        || shown.stream()
                                .noneMatch(one -> INTERRUPT.matcher(one.name()).matches()));
    }

    /** What vmalloc remembers of an area, which it frees later than the area, or keeps. */
    private boolean isAreaNode(Frame frame) {
        return frame.name()
                .matches(
                        "alloc_vmap_area.*|__get_vm_area_node.*|get_vm_area.*"
                                + "|__vmalloc_(node_range|area_node).*");
    }

    private boolean isInner(Frame frame) {
        String name = frame.name();
        boolean vmalloc = name.contains("vmalloc") || name.startsWith("vm_area_alloc");
        return (areas || !vmalloc) && INNER.matcher(name).matches();
    }

    /** Beneath a function that the user named nothing is kept on purpose. */
    private String reason(AllocationKind kind, List<Frame> all) {
        List<Frame> shown = all.subList(0, filter.before(all));
        boolean forks = shown.stream().anyMatch(one -> one.name().equals("copy_process"));
        if (kind == AllocationKind.VMALLOC && forks) {
            return "stacks of threads that each CPU keeps for the next thread";
        }
        if (running && shown.stream().anyMatch(one -> PROCESS.matcher(one.name()).matches())) {
            return "memory and tasks of processes that still run";
        }
        for (Kept kept : KEPT) {
            for (Frame frame : shown) {
                if (kept.functions.matcher(frame.name()).matches()) {
                    return kept.reason;
                }
            }
        }
        return "";
    }
}
