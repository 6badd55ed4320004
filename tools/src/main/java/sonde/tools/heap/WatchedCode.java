package sonde.tools.heap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import sonde.event.result.Frame;
import sonde.probe.heap.HeapProbes;
import sonde.probe.perf.LifeRecord;
import sonde.probe.perf.ProcessLife;
import sonde.symbol.CodeMapping;
import sonde.symbol.KernelRun;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.CodeDetail;
import sonde.symbol.resolve.NameDetail;
import sonde.symbol.resolve.SymbolResolver;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;

/** What the watched processes map, and the names of addresses there, also after their end. */
final class WatchedCode implements AutoCloseable {
    static final CodeDetail LINES =
            new CodeDetail(true, true, CodeDetail.QUICK_BYTES, Long.MAX_VALUE);

    private final ProcessMaps maps = ProcessMaps.keepingOverExec(1 << 10);
    private final SymbolResolver resolver;
    private final ProcessLife life;
    private final Set<Integer> pids = new HashSet<>();
    private final BiConsumer<Integer, String> files;

    /**
     * Begins to listen.
     *
     * @param files is told each file that a watched process maps as code, with its number
     */
    WatchedCode(GivenPlaces places, BiConsumer<Integer, String> files) throws SyscallException {
        this.files = files;
        NameDetail naming = NameDetail.of(SymbolOptions.here().with(places), places).with(LINES);
        resolver = new SymbolResolver(maps, naming, KernelRun::here, pid -> new byte[0]);
        life = ProcessLife.open();
    }

    /** Watches a process, and reads what it maps now. */
    void follow(int pid) throws SyscallException {
        pids.add(pid);
        for (MappedRange range : MappedRange.of(pid)) {
            if (range.isExecutable()) {
                accept(
                        pid,
                        new CodeMapping(
                                range.start(),
                                range.end() - range.start(),
                                range.offset(),
                                range.path(),
                                new byte[0],
                                range.device(),
                                range.inode()));
            }
        }
    }

    private void accept(int pid, CodeMapping mapping) {
        maps.mapped(0, pid, mapping);
        if (mapping.path().startsWith("/")) {
            files.accept(pid, mapping.path());
        }
    }

    /** Takes what has come; to be called often. */
    void catchUp() {
        life.drain(one -> {
            switch (one) {
                case LifeRecord.Mapped m -> {
                    if (pids.contains(m.pid())) {
                        accept(m.pid(), m.mapping());
                    }
                }
                case LifeRecord.Execed e -> {
                    if (pids.contains(e.pid())) {
                        maps.execed(e.pid());
                    }
                }
                case LifeRecord.Forked _, LifeRecord.ExitedRecord _, LifeRecord.KernelSymbol _ -> {}
            }
        });
    }

    /** Whether all addresses are in one file. */
    boolean isOneFile(int pid, long[] addresses) {
        return Arrays.stream(addresses)
                        .mapToObj(address -> maps.module(maps.location(pid, address)))
                        .map(module -> module == null ? "" : module.mapping().path())
                        .distinct()
                        .count()
                == 1;
    }

    /** The frames of a stack, innermost first: all addresses are those to which calls return. */
    List<Frame> frames(HeapProbes probes, int pid, long[] addresses) {
        List<Frame> frames = new ArrayList<>();
        for (long address : addresses) {
            List<Frame> runTime = probes.frames(pid, address);
            frames.addAll(
                    runTime.isEmpty() ? resolver.frames(maps.location(pid, address - 1)) : runTime);
        }
        return frames;
    }

    @Override
    public void close() {
        resolver.close();
        life.close();
    }
}
