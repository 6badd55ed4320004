package sonde.probe.kmem;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.link.KernelTypes;

/**
 * A tracepoint that tells of an allocation, and the places of its arguments; -1 for what it lacks.
 *
 * @param pointer the address, or struct page
 * @param requested bytes, or the order of pages
 * @param allocated bytes
 * @param gfp flags
 * @param cache struct kmem_cache
 * @param failed 0 for success
 */
record AllocationEvent(
        String tracepoint,
        AllocationKind kind,
        int pointer,
        int requested,
        int allocated,
        int gfp,
        int cache,
        int failed) {
    /** Arguments of percpu_alloc_percpu since Linux 5.19; before, it had no caller and size. */
    private static final int PER_CPU_ARGUMENTS = 10;

    /** The events of this kernel. */
    static List<AllocationEvent> of(KernelTypes types, boolean pages) throws IOException {
        List<AllocationEvent> all = new ArrayList<>();
        Btf btf = types.btf();
        for (String name : List.of("kmalloc", "kmalloc_node")) {
            slab(btf, name, AllocationKind.KMALLOC, all);
        }
        for (String name : List.of("kmem_cache_alloc", "kmem_cache_alloc_node")) {
            slab(btf, name, AllocationKind.CACHE, all);
        }
        int perCpu = arguments(btf, "percpu_alloc_percpu").size();
        if (perCpu == PER_CPU_ARGUMENTS) {
            all.add(
                    new AllocationEvent(
                            "percpu_alloc_percpu", AllocationKind.PER_CPU, 7, 3, 8, 9, -1, -1));
        } else if (perCpu > 0) {
            all.add(
                    new AllocationEvent(
                            "percpu_alloc_percpu", AllocationKind.PER_CPU, 6, 2, -1, -1, -1, -1));
        }
        if (!arguments(btf, "alloc_vmap_area").isEmpty()) {
            all.add(
                    new AllocationEvent(
                            "alloc_vmap_area", AllocationKind.VMALLOC, 0, 1, -1, -1, -1, 5));
        }
        if (pages) {
            all.add(
                    new AllocationEvent(
                            "mm_page_alloc", AllocationKind.PAGES, 0, 1, -1, 2, -1, -1));
        }
        return all;
    }

    /** The arguments of the slab's events have changed their places, but not their types. */
    private static void slab(Btf btf, String name, AllocationKind kind, List<AllocationEvent> all)
            throws MalformedInputException {
        int cache = -1;
        int requested = -1;
        int allocated = -1;
        int gfp = -1;
        List<String> arguments = arguments(btf, name);
        for (int i = 2; i < arguments.size(); i++) {
            switch (arguments.get(i)) {
                case "kmem_cache" -> cache = i;
                case "size_t" -> {
                    allocated = requested < 0 ? allocated : i;
                    requested = requested < 0 ? i : requested;
                }
                case "gfp_t" -> gfp = i;
                default -> {}
            }
        }
        if (gfp > 0) {
            all.add(new AllocationEvent(name, kind, 1, requested, allocated, gfp, cache, -1));
        }
    }

    /** The types of a tracepoint's arguments by name; none when the kernel lacks it. */
    static List<String> arguments(Btf btf, String name) throws MalformedInputException {
        int id = btf.find("btf_trace_" + name, BtfType.Typedef.class::isInstance);
        List<String> names = new ArrayList<>();
        if (id != 0
                && btf.type(id) instanceof BtfType.Typedef alias
                && btf.type(alias.type()) instanceof BtfType.Ptr pointer
                && btf.type(pointer.type()) instanceof BtfType.FuncProto function) {
            // The first is the data of the probe itself.
            for (int i = 1; i < function.params().size(); i++) {
                names.add(typeName(btf, function.params().get(i).type()));
            }
        }
        return names;
    }

    private static String typeName(Btf btf, int id) throws MalformedInputException {
        BtfType type = btf.type(id);
        for (int depth = 0; depth < 8; depth++) {
            switch (type) {
                case BtfType.Typedef alias -> {
                    return alias.name();
                }
                case BtfType.Struct struct -> {
                    return struct.name();
                }
                case BtfType.Ptr pointer -> type = btf.type(pointer.type());
                case BtfType.Modifier modifier -> type = btf.type(modifier.type());
                default -> {
                    return "";
                }
            }
        }
        return "";
    }
}
