package sonde.lang.bpftrace.run;

import java.io.File;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Frame;
import sonde.probe.perf.LifeRecord;
import sonde.probe.perf.LifeRecord.ExitedRecord;
import sonde.probe.perf.ProcessLife;
import sonde.probe.stack.UserStackFunction;
import sonde.symbol.CodeMapping;
import sonde.symbol.CodeModule;
import sonde.symbol.KernelRun;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.CodeDetail;
import sonde.symbol.line.CodePlaces.FoundCode;
import sonde.symbol.resolve.NameDetail;
import sonde.symbol.resolve.SymbolResolver;
import sonde.sys.Clocks;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;

/**
 * Names addresses of processes. Where the life of processes is followed, also of those that have
 * ended: what they map is told by the kernel while it happens, what was there before is read from
 * /proc bit by bit.
 */
final class UserCode implements AutoCloseable {

    /** Processes that have ended and are still known; each costs about a KiB. */
    private static final int EXITED_KEPT = 1 << 16;

    /** Time in a turn for processes that were there before. */
    private static final long SCAN_NANOS = 5_000_000;

    /** Programs are many, the kernel is one. */
    private static final CodeDetail LINES =
            new CodeDetail(true, true, CodeDetail.QUICK_BYTES, Long.MAX_VALUE);

    private final ProcessMaps maps = ProcessMaps.keepingOverExec(EXITED_KEPT);
    private final SymbolResolver resolver;
    private final JitMaps jit;
    private final StackFollower follower = new StackFollower(maps);
    private final boolean demangles;
    private final UserStackFunction stacks;
    private final Set<Integer> known = new HashSet<>();
    private final Map<Integer, Boolean> elsewhere = new HashMap<>();
    private final ArrayDeque<Integer> unread = new ArrayDeque<>();
    private @Nullable ProcessLife life;
    private String problem = "";

    /**
     * Nothing is known yet.
     *
     * @param demangles whether names of C++ are shown as in the source
     * @param withLines whether stacks have lines and inlined functions
     * @param places where files may be, besides the usual places
     * @param stacks which knows functions of run times
     */
    UserCode(boolean demangles, boolean withLines, GivenPlaces places, UserStackFunction stacks) {
        this(demangles, withLines, places, stacks, KernelRun::here);
    }

    /** As above, beside a kernel that is asked for once. */
    UserCode(
            boolean demangles,
            boolean withLines,
            GivenPlaces places,
            UserStackFunction stacks,
            Supplier<KernelRun> kernel) {
        this.demangles = demangles;
        this.stacks = stacks;
        NameDetail naming = NameDetail.of(SymbolOptions.here().with(places), places);
        resolver =
                new SymbolResolver(
                        maps, withLines ? naming.with(LINES) : naming, kernel, pid -> new byte[0]);
        jit = new JitMaps(resolver);
    }

    /**
     * A function.
     *
     * @param offset of the address in it; -1 for a function of a run time
     * @param file the path of what was mapped, or the source file
     * @param source its line, and what was inlined there
     */
    record UserCodeFunction(String name, long offset, String file, FoundCode source) {
        /** Without lines. */
        UserCodeFunction(String name, long offset, String file) {
            this(name, offset, file, FoundCode.UNKNOWN);
        }

        /** The same at lines. */
        UserCodeFunction at(FoundCode lines) {
            return new UserCodeFunction(name, offset, file, lines);
        }
    }

    /** Begins to follow all processes; where that is refused says why in {@link #problem}. */
    void follow() {
        try {
            life = ProcessLife.open();
        } catch (SyscallException e) {
            problem = String.valueOf(e.getMessage());
            return;
        }
        String[] names = new File("/proc").list();
        for (String name : names == null ? new String[0] : names) {
            if (name.matches("[0-9]{1,9}")) {
                // The youngest are likely to end first.
                unread.addFirst(Integer.valueOf(name));
            }
        }
    }

    /** Why processes cannot be followed; empty when they are, or nobody asked for it. */
    String problem() {
        return problem;
    }

    /** Takes what has come; to be called often. */
    void catchUp() {
        ProcessLife followed = life;
        if (followed == null) {
            return;
        }
        followed.drain(this::accept);
        long end = Clocks.nanos(Clocks.CLOCK_MONOTONIC) + SCAN_NANOS;
        while (!unread.isEmpty() && Clocks.nanos(Clocks.CLOCK_MONOTONIC) < end) {
            read(unread.remove());
        }
    }

    /** Records of mappings that were lost so far. */
    long lost() {
        try {
            return life == null ? 0 : life.lost();
        } catch (SyscallException e) {
            return 0;
        }
    }

    private void accept(LifeRecord one) {
        switch (one) {
            case LifeRecord.Mapped m -> {
                maps.mapped(m.timeNanos(), m.pid(), m.mapping());
                early(m.pid(), m.mapping());
            }
            case LifeRecord.Forked f -> {
                if (f.pid() != f.parent()) {
                    read(f.parent());
                    maps.forked(f.parent(), f.pid());
                    known.add(f.pid());
                }
            }
            case LifeRecord.Execed e -> {
                maps.execed(e.pid());
                elsewhere.remove(e.pid());
            }
            case ExitedRecord e -> {
                maps.exited(e.pid());
                elsewhere.remove(e.pid());
            }
            case LifeRecord.KernelSymbol k ->
                    maps.kernelSymbol(k.timeNanos(), k.start(), k.lengthBytes(), k.name());
        }
    }

    /** Reads what cannot be read once the process has ended. */
    private void early(int pid, CodeMapping mapping) {
        String path = mapping.path();
        if (path.startsWith("//anon") || path.isEmpty() || path.startsWith("/memfd:")) {
            jit.sawCode(pid);
        } else if (path.startsWith("/") && elsewhere(pid)) {
            resolver.function(maps.location(pid, mapping.start()));
        }
    }

    private boolean elsewhere(int pid) {
        return elsewhere.computeIfAbsent(pid, JitMaps::isElsewhere);
    }

    /** Reads where files lie in a process, once; a process that has ended stays as it was read. */
    void read(int pid) {
        if (!known.add(pid)) {
            return;
        }
        try {
            MappedRange.of(pid).forEach(range -> mapped(pid, range));
        } catch (SyscallException e) {
            // It has ended.
        }
    }

    private void mapped(int pid, MappedRange range) {
        if (!range.isExecutable()) {
            return;
        }
        maps.mapped(
                0,
                pid,
                new CodeMapping(
                        range.start(),
                        range.end() - range.start(),
                        range.offset(),
                        range.path(),
                        new byte[0],
                        range.device(),
                        range.inode()));
        if (range.path().isEmpty()) {
            jit.sawCode(pid);
        }
    }

    /**
     * The function at an address of a process; null for none.
     *
     * @param returned whether a call returns to it: then it may be the first one behind the
     *     function that called
     */
    @Nullable UserCodeFunction find(int pid, long address, boolean returned) {
        List<Frame> runTime = stacks.frames(pid, address);
        if (!runTime.isEmpty()) {
            Frame last = runTime.getLast();
            List<Frame> inlined = runTime.subList(0, runTime.size() - 1);
            FoundCode source = new FoundCode(inlined, last.file(), last.line());
            return new UserCodeFunction(last.name(), -1, last.file(), source);
        }
        read(pid);
        UserCodeFunction place = known(pid, address, returned);
        if (place == null && life != null) {
            life.drain(this::accept);
            place = known(pid, address, returned);
        }
        return place;
    }

    /** The addresses of a stack that was copied, innermost first. */
    long[] unwind(int pid, byte[] bytes, int at, int frames) {
        if (life != null) {
            life.drain(this::accept);
        }
        read(pid);
        return follower.unwind(bytes, at, frames);
    }

    /** What follows copied stacks. */
    StackFollower follower() {
        return follower;
    }

    /** The functions of a stack, innermost first, with their lines; null where there is none. */
    List<@Nullable UserCodeFunction> stack(int pid, long[] addresses) {
        return withLines(pid, addresses, i -> find(pid, addresses[i], i > 0));
    }

    /** As {@link #stack}, of the kernel. */
    List<@Nullable UserCodeFunction> kernelStack(long[] addresses) {
        return withLines(0, addresses, i -> kernel(addresses[i]));
    }

    private List<@Nullable UserCodeFunction> withLines(
            int pid, long[] addresses, IntFunction<@Nullable UserCodeFunction> functions) {
        List<@Nullable UserCodeFunction> places = new ArrayList<>();
        long[] locations = new long[addresses.length];
        for (int i = 0; i < addresses.length; i++) {
            UserCodeFunction place = functions.apply(i);
            places.add(place);
            // Where a call returns to may be the next line, or the next function.
            long address = i > 0 ? addresses[i] - 1 : addresses[i];
            locations[i] = place == null || place.offset < 0 ? 0 : maps.location(pid, address);
        }
        resolver.learn(locations);
        for (int i = 0; i < locations.length; i++) {
            UserCodeFunction place = places.get(i);
            if (place != null && place.offset >= 0) {
                places.set(i, place.at(resolver.place(locations[i])));
            }
        }
        return places;
    }

    private @Nullable UserCodeFunction known(int pid, long address, boolean returned) {
        int back = returned ? 1 : 0;
        long location = maps.location(pid, address - back);
        CodeModule module = maps.module(location);
        if (module == null) {
            return null;
        }
        boolean isFile =
                module.kind() == CodeModule.Kind.FILE || module.kind() == CodeModule.Kind.VDSO;
        long offset = resolver.offsetInFunction(location);
        if (!isFile && jit.refresh(pid, offset < 0)) {
            offset = resolver.offsetInFunction(location);
        }
        if (offset < 0) {
            return null;
        }
        Frame frame = resolver.function(location);
        String plain = demangles ? null : resolver.plainName(location);
        String file = isFile ? module.mapping().path() : "/tmp/perf-" + pid + ".map";
        return new UserCodeFunction(plain == null ? frame.name() : plain, offset + back, file);
    }

    /** The function of the kernel at an address; null for none. The file is its module. */
    @Nullable UserCodeFunction kernel(long address) {
        long location = maps.location(0, address);
        long offset = address < 0 ? resolver.offsetInFunction(location) : -1;
        if (offset < 0) {
            return null;
        }
        Frame frame = resolver.function(location);
        // Code that came while processes were followed: BPF programs, trampolines.
        return new UserCodeFunction(frame.name(), offset, location < 0 ? frame.module() : "bpf");
    }

    @Override
    public void close() {
        resolver.close();
        if (life != null) {
            life.close();
            life = null;
        }
    }
}
