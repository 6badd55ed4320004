package sonde.tools.leaks;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import sonde.event.result.Frame;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.CodeDetail;
import sonde.symbol.line.CodePlaces;
import sonde.symbol.line.CodePlaces.FoundCode;
import sonde.symbol.line.KernelCode;
import sonde.sys.MachineFacts;

/** Names the frames of kernel stacks; code of modules keeps its name when the module is gone. */
final class LeakStacks implements AutoCloseable {
    /**
     * Functions that allocate for their caller, and those of tracing itself; DWARF adds those that
     * were inlined.
     */
    private static final Pattern ALLOCATOR =
            Pattern.compile(
                    "bpf_.*|__bpf_.*|_*traceiter_.*|trace_.*|perf_.*|get_perf_callchain"
                            + "|_*(kmalloc|kzalloc|kcalloc|kvmalloc|kvzalloc|kvcalloc"
                            + "|krealloc|kvrealloc"
                            + "|kmemdup|kvmemdup|kstrdup|kstrndup|kasprintf|kvasprintf|memdup_user"
                            + "|kmem_cache_(alloc|zalloc)|do_kmalloc|do_kmem|slab_alloc"
                            + "|slab_post_alloc"
                            + "|alloc_pages|alloc_page|alloc_frozen_pages|get_free_page|get_zeroed"
                            + "|folio_alloc|alloc_folio|vma_alloc|alloc_slab|allocate_slab|new_slab"
                            + "|pcpu_|alloc_percpu|vmalloc|vzalloc|vcalloc|get_vm_area"
                            + "|alloc_vmap_area"
                            + "|devm_k|devres_alloc|alloc_dr|mempool_alloc|alloc_pages_bulk)\\w*"
                            + "(\\.[\\w.]*)?|vmap|vm_map_ram");

    private static final Pattern TRACER = Pattern.compile("bpf_.*|__bpf_.*|_*traceiter_.*");

    private final byte[] kallsyms;
    private final GivenPlaces given;
    private final Map<Long, List<Frame>> named = new HashMap<>();
    private KernelRun run;
    private CodePlaces places;

    /**
     * Nothing is looked for yet.
     *
     * @param kallsyms text of /proc/kallsyms while the modules are loaded
     */
    LeakStacks(byte[] kallsyms, GivenPlaces given) {
        this.kallsyms = kallsyms;
        this.given = given;
        run =
                new KernelRun(
                        MachineFacts.uname().release(),
                        KernelRun.buildIdHere(),
                        KernelSymbols.parse(kallsyms),
                        Map.of(),
                        List.of());
        places = places();
    }

    private CodePlaces places() {
        SymbolOptions from = SymbolOptions.here().with(given);
        KernelCode code = new KernelCode(run, from, given.vmlinux());
        return new CodePlaces(new ProcessMaps(), from, new CodeDetail(true, true), () -> code);
    }

    /** Adds functions of modules as lines of kallsyms. */
    void learn(String moreSymbols) {
        byte[] more = moreSymbols.getBytes(StandardCharsets.UTF_8);
        byte[] all = new byte[kallsyms.length + more.length];
        System.arraycopy(kallsyms, 0, all, 0, kallsyms.length);
        System.arraycopy(more, 0, all, kallsyms.length, more.length);
        run = run.with(KernelSymbols.parse(all));
        places.close();
        places = places();
        named.clear();
    }

    KernelSymbols symbols() {
        return run.symbols();
    }

    /** Looks up lines of many addresses at once. */
    private void find(long[] calls) {
        long[] unknown = LongStream.of(calls).filter(at -> !named.containsKey(at)).toArray();
        if (unknown.length == 0) {
            return;
        }
        Map<Long, FoundCode> found = places.of(unknown);
        for (long at : unknown) {
            FoundCode code = found.getOrDefault(at, FoundCode.UNKNOWN);
            List<Frame> frames = new ArrayList<>(code.inlined());
            int symbol = run.symbols().find(at);
            Frame function =
                    symbol < 0
                            ? new Frame("0x" + Long.toHexString(at), "", Frame.Kind.KERNEL)
                            : new Frame(
                                    run.symbols().name(symbol),
                                    run.symbols().module(symbol),
                                    Frame.Kind.KERNEL);
            frames.add(code.line() > 0 ? function.at(code.file(), code.line()) : function);
            named.put(at, List.copyOf(frames));
        }
    }

    /** The frames of a stack, inlined calls among them, the innermost first. */
    List<Frame> frames(long[] stack) {
        // A return address may be the first of the next line.
        long[] calls = LongStream.of(stack).map(at -> at - 1).toArray();
        find(calls);
        List<Frame> all = new ArrayList<>();
        for (long at : calls) {
            all.addAll(named.getOrDefault(at, List.of()));
        }
        int start = 0;
        for (int i = 0; i < all.size(); i++) {
            start = TRACER.matcher(all.get(i).name()).matches() ? i + 1 : start;
        }
        return List.copyOf(all.subList(start, all.size()));
    }

    /** How many of the first frames belong to the allocator. */
    static int allocators(List<Frame> frames) {
        int count = 0;
        while (count < frames.size() && ALLOCATOR.matcher(frames.get(count).name()).matches()) {
            count++;
        }
        return count == frames.size() ? 0 : count;
    }

    /** Why lines are missing, a sentence each. */
    List<String> notes() {
        return places.notes();
    }

    @Override
    public void close() {
        places.close();
    }
}
