package sonde.tools.heap;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapStack;
import sonde.event.result.Frame;
import sonde.exchange.heap.HeapFile;
import sonde.symbol.CodeMapping;
import sonde.symbol.KernelRun;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.resolve.NameDetail;
import sonde.symbol.resolve.SymbolResolver;

/**
 * Names for the addresses of a profile that has only modules and offsets, by the modules of this
 * machine. A module that was changed after the profile was written is not asked: it would give
 * false names.
 */
final class HeapSymbols {
    private static final Pattern OFFSET = Pattern.compile("\\[.*\\+0x([0-9a-f]{1,9})]");
    private static final long RANGE_BYTES = 1L << 36;

    private final Path profile;
    private final Map<String, Long> starts = new HashMap<>();
    private final Map<Frame, List<Frame>> known = new HashMap<>();
    private final TreeSet<String> changed = new TreeSet<>();
    private final ProcessMaps maps = new ProcessMaps();

    private HeapSymbols(Path profile) {
        this.profile = profile;
    }

    static HeapFile named(HeapFile file, Path path) throws IOException {
        boolean any =
                file.profile().stacks().stream()
                        .flatMap(stack -> stack.frames().stream())
                        .anyMatch(frame -> OFFSET.matcher(frame.name()).matches());
        return any ? new HeapSymbols(path).named(file) : file;
    }

    private HeapFile named(HeapFile file) throws IOException {
        HeapProfile one = file.profile();
        List<HeapStack> stacks = new ArrayList<>();
        try (SymbolResolver resolver =
                new SymbolResolver(
                        maps,
                        NameDetail.of(SymbolOptions.here(), GivenPlaces.NONE)
                                .with(WatchedCode.LINES),
                        KernelRun::here,
                        pid -> new byte[0])) {
            for (HeapStack stack : one.stacks()) {
                List<Frame> frames = new ArrayList<>();
                for (Frame frame : stack.frames()) {
                    List<Frame> found = known.get(frame);
                    if (found == null) {
                        found = frames(frame, resolver);
                        known.put(frame, found);
                    }
                    frames.addAll(found);
                }
                stacks.add(new HeapStack(stack.pid(), frames, stack.sums()));
            }
        }
        List<String> notes = new ArrayList<>(one.notes());
        if (!changed.isEmpty()) {
            notes.add(
                    "Changed since the profile was written, so their addresses are not decoded: "
                            + String.join(", ", changed)
                            + ".");
        }
        HeapProfile profile =
                new HeapProfile(
                        one.command(),
                        one.source(),
                        one.nanos(),
                        one.timeUnit(),
                        one.totals(),
                        one.peakNanos(),
                        one.peakResident(),
                        stacks,
                        one.curve(),
                        one.sizes(),
                        one.faults(),
                        notes);
        return new HeapFile(profile, file.suppressions(), file.detailed());
    }

    private List<Frame> frames(Frame frame, SymbolResolver resolver) throws IOException {
        Matcher offset = OFFSET.matcher(frame.name());
        if (!offset.matches()) {
            return List.of(frame);
        }
        long start = start(frame.module());
        if (start < 0) {
            return List.of(frame);
        }
        // An address of a profile is the one to which a call returns.
        long address = start + Long.parseLong(offset.group(1), 16) - 1;
        return resolver.frames(maps.location(1, address));
    }

    /** Where a module is put; -1 for one that is not here as it was. */
    private long start(String module) throws IOException {
        Long known = starts.get(module);
        if (known != null) {
            return known;
        }
        Path file = Path.of(module);
        long start = -1;
        if (module.startsWith("/") && Files.isRegularFile(file)) {
            if (Files.getLastModifiedTime(file).compareTo(Files.getLastModifiedTime(profile)) > 0) {
                changed.add(module);
            } else {
                start = RANGE_BYTES * (starts.size() + 1);
                maps.mapped(0, 1, new CodeMapping(start, RANGE_BYTES, 0, module));
            }
        }
        starts.put(module, start);
        return start;
    }
}
