package sonde.tools.calls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import sonde.probe.syscall.FunctionPlaces;
import sonde.probe.syscall.LibrarySession.LibraryChooser;
import sonde.probe.syscall.LibrarySession.LibraryProbe;
import sonde.recording.library.LibraryPrototype;
import sonde.sys.Clocks;
import sonde.sys.MappedRange;
import sonde.sys.TargetFile;
import sonde.tools.calls.TracedObject.ExportedFunction;

/** Chooses functions of the objects that processes have mapped. */
final class LibraryChoice implements LibraryChooser, AutoCloseable {
    /** Where the loader of glibc and of musl tells debuggers of changes. */
    private static final String ANNOUNCEMENT = "_dl_debug_state";

    private static final List<String> LOADERS =
            List.of("/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1");

    /**
     * A uretprobe changes the return address. The unwinder of C++ exceptions does not find its way
     * over it and ends the program; what returns twice, or with other registers, would go astray.
     */
    private static final Set<String> NEVER_RETURNED =
            Set.of(
                    ("setjmp _setjmp sigsetjmp __sigsetjmp savectx getcontext swapcontext makecontext"
                                    + " setcontext longjmp _longjmp siglongjmp __longjmp_chk vfork __vfork"
                                    + " clone __clone clone3 exit _exit _Exit quick_exit abort pthread_exit"
                                    + " thrd_exit __stack_chk_fail __assert_fail __assert_perror_fail"
                                    + " __chk_fail __fortify_fail __libc_start_main rt_sigreturn"
                                    + " backtrace")
                            .split(" "));

    /** What changes the user and executes the command (util-linux). */
    static final String STARTER = "setpriv";

    /** What the start files of each program call. */
    private static final Set<String> OF_START =
            Set.of("__libc_start_main", "__cxa_finalize", "__gmon_start__");

    /**
     * What is wanted.
     *
     * @param calls of which symbols by which objects (-e)
     * @param entries into which symbols of which objects (-x)
     * @param into libraries that implement what is called (-l); all when empty
     * @param namesCallers whether -e was given
     * @param allReturns whether returns are seen where exceptions could pass
     * @param asUser whether the command is executed by {@link #STARTER}
     * @param limit bytes of a string
     */
    record Wanted(
            CallRules calls,
            CallRules entries,
            CallRules into,
            boolean namesCallers,
            boolean allReturns,
            boolean asUser,
            int limit) {}

    private final Wanted wanted;
    private final Map<String, TracedObject> objects = new HashMap<>();

    /** Ranges of code of each process since a time, with the objects that they belong to. */
    private final Map<Integer, NavigableMap<Long, List<LoadedRange>>> ranges =
            new ConcurrentHashMap<>();

    /** Types that debugging information states, by file and place. */
    private final Map<String, LibraryPrototype> stated = new ConcurrentHashMap<>();

    /** Processes that execute what is traced. */
    private final Set<Integer> begun = new HashSet<>();

    private final List<String> notes = new ArrayList<>();

    /** Names of functions that have the same code, by file and place. */
    private final Map<String, Set<String>> names = new ConcurrentHashMap<>();

    /** Files of programs, for {@link #nameAt}. */
    private final Map<String, TargetFile> opened = new ConcurrentHashMap<>();

    private final Map<String, Optional<String>> called = new ConcurrentHashMap<>();

    private record LoadedRange(MappedRange range, TracedObject object) {}

    LibraryChoice(Wanted wanted) {
        this.wanted = wanted;
    }

    @Override
    public synchronized List<LibraryProbe> functions(int pid) throws IOException {
        String root = "/proc/" + pid + "/root";
        String program = program(pid);
        if (wanted.asUser() && !begun.contains(pid) && program.endsWith("/" + STARTER)) {
            return List.of();
        }
        begun.add(pid);
        Map<String, MappedRange> files = new LinkedHashMap<>();
        List<LoadedRange> code = new ArrayList<>();
        for (MappedRange range : MappedRange.of(pid)) {
            if (range.isExecutable() && range.inode() != 0 && range.path().startsWith("/")) {
                String file = range.device() + ":" + range.inode();
                TracedObject object = object(file, root, range, program);
                if (object != null) {
                    files.putIfAbsent(file, range);
                    code.add(new LoadedRange(range, object));
                }
            }
        }
        // The process waits: what it has called so far belongs to the ranges before.
        ranges.computeIfAbsent(pid, _ -> new ConcurrentSkipListMap<>())
                .put(Clocks.nanos(Clocks.CLOCK_MONOTONIC), code);
        List<LibraryProbe> probes = new ArrayList<>();
        boolean throwing =
                code.stream().anyMatch(one -> one.object().soname().matches("lib(std)?c\\+\\+.*"));
        for (Map.Entry<String, MappedRange> file : files.entrySet()) {
            MappedRange range = file.getValue();
            String path = "/proc/%d/map_files/%x-%x".formatted(pid, range.start(), range.end());
            TracedObject object = objects.get(file.getKey());
            if (object != null) {
                add(probes, object, path, root, throwing, code);
            }
        }
        return probes;
    }

    private static String program(int pid) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/" + pid + "/exe")).toString();
        } catch (IOException e) {
            return "";
        }
    }

    private @Nullable TracedObject object(
            String file, String root, MappedRange range, String program) {
        TracedObject known = objects.get(file);
        boolean isMain = range.path().equals(program);
        if (known == null || isMain && !known.isMain()) {
            try {
                known = TracedObject.read(file, root, range.path(), isMain);
            } catch (IOException e) {
                notes.add(range.path() + " is left out: " + e.getMessage());
                return null;
            }
            objects.put(file, known);
            try {
                TargetFile before = isMain ? opened.put(file, known.open(root)) : null;
                if (before != null) {
                    before.close();
                }
            } catch (IOException e) {
                notes.add(range.path() + " is gone: " + e.getMessage());
            }
        }
        return known;
    }

    private void add(
            List<LibraryProbe> probes,
            TracedObject object,
            String path,
            String root,
            boolean throwing,
            List<LoadedRange> code)
            throws IOException {
        Set<TracedObject> callers = new HashSet<>();
        code.forEach(one -> callers.add(one.object()));
        List<ExportedFunction> chosen = new ArrayList<>();
        List<Boolean> entries = new ArrayList<>();
        List<Boolean> anyCaller = new ArrayList<>();
        Set<Long> places = new HashSet<>();
        for (ExportedFunction function : object.functions()) {
            String name = function.name();
            boolean entry = wanted.entries().fits(name, object);
            boolean called = false;
            boolean byOthers = false;
            for (TracedObject caller : callers) {
                boolean calls =
                        (caller.isMain() ? caller.imports().contains(name) : true)
                                && (wanted.namesCallers() || !OF_START.contains(name))
                                && wanted.calls().fits(name, caller)
                                && (wanted.into().isEmpty() || wanted.into().fits(name, object));
                called |= calls;
                byOthers |= calls && !caller.isMain();
            }
            if (entry || called && !object.isMain()) {
                OptionalLong place =
                        function.chosenAtStart()
                                ? FunctionPlaces.chosen(object.file(), object.soname(), name)
                                : OptionalLong.of(function.offset());
                place.ifPresent(one -> names(object, one).add(name));
                if (place.isPresent() && places.add(place.getAsLong())) {
                    chosen.add(
                            new ExportedFunction(
                                    name,
                                    place.getAsLong(),
                                    function.chosenAtStart() ? 0 : function.size(),
                                    false));
                    entries.add(entry);
                    anyCaller.add(entry || byOthers);
                }
            }
        }
        List<LibraryPrototype> types = types(object, root, chosen, entries);
        List<OptionalLong> offsets = object.places(root, chosen);
        for (int i = 0; i < chosen.size(); i++) {
            if (offsets.get(i).isEmpty()) {
                continue;
            }
            String name = chosen.get(i).name();
            probes.add(
                    new LibraryProbe(
                            object.file(),
                            path,
                            offsets.get(i).getAsLong(),
                            chosen.get(i).offset(),
                            entries.get(i) ? name + "@" + object.soname() : name,
                            object.soname(),
                            types.get(i).plan(wanted.limit()),
                            anyCaller.get(i),
                            returns(name, types.get(i), object, throwing)));
        }
    }

    /** Debugging information knows the program's own functions, and those that no table has. */
    private List<LibraryPrototype> types(
            TracedObject object,
            String root,
            List<ExportedFunction> chosen,
            List<Boolean> entries) {
        List<LibraryPrototype> all = new ArrayList<>();
        DebugPrototypes debug = null;
        try {
            for (int i = 0; i < chosen.size(); i++) {
                String name = chosen.get(i).name();
                String key = object.file() + ":" + chosen.get(i).offset();
                LibraryPrototype type = stated.get(key);
                if (type == null && (entries.get(i) && object.isMain() || !type(name).known())) {
                    debug = debug == null ? DebugPrototypes.of(root, object) : debug;
                    type = debug.of(name, chosen.get(i).offset()).orElse(type(name));
                    stated.put(key, type);
                }
                all.add(type == null ? type(name) : type);
            }
        } catch (IOException | InternalError e) {
            notes.add(object.path() + ": its debugging information: " + e.getMessage());
            chosen.subList(all.size(), chosen.size()).forEach(one -> all.add(type(one.name())));
        } finally {
            if (debug != null) {
                debug.note().ifPresent(note -> notes.add(object.soname() + ": " + note));
                debug.close();
            }
        }
        return all;
    }

    private Set<String> names(TracedObject object, long offset) {
        return names.computeIfAbsent(
                object.file() + ":" + offset, _ -> ConcurrentHashMap.newKeySet());
    }

    /** The name by which a function is called, where several names mean the same code. */
    String nameAt(LibraryProbe probe, int pid, long address, long nanos) {
        Set<String> all = names.getOrDefault(probe.file() + ":" + probe.function(), Set.of());
        LoadedRange range = all.size() < 2 ? null : range(pid, address, nanos);
        if (range == null) {
            return probe.name();
        }
        long offset = address - range.range().start() + range.range().offset();
        return called.computeIfAbsent(
                        range.object().file() + ":" + offset,
                        _ ->
                                Optional.ofNullable(opened.get(range.object().file()))
                                        .flatMap(file -> TracedObject.called(file, offset)))
                .filter(all::contains)
                .orElse(probe.name());
    }

    /** The type of a function by that name. */
    LibraryPrototype type(LibraryProbe probe, String name) {
        LibraryPrototype known = stated.get(probe.file() + ":" + probe.function());
        return known == null ? type(name) : known;
    }

    private static LibraryPrototype type(String name) {
        return LibraryPrototype.table().getOrDefault(name, LibraryPrototype.UNKNOWN);
    }

    private boolean returns(
            String name, LibraryPrototype type, TracedObject object, boolean throwing) {
        if (NEVER_RETURNED.contains(name)
                || name.startsWith("_Z")
                || name.startsWith("__cxa_")
                || name.startsWith("_Unwind_")) {
            return false;
        }
        boolean ofC = object.soname().matches("(libc|libm|libpthread|libdl|librt)\\.so.*");
        return !throwing || wanted.allReturns() || ofC && !type.takesFunctions();
    }

    @Override
    public List<LibraryProbe> loaders() throws IOException {
        List<LibraryProbe> all = new ArrayList<>();
        for (String name : LOADERS) {
            Path path = Path.of(name);
            if (Files.exists(path)) {
                TracedObject object =
                        TracedObject.read(name, "/", path.toRealPath().toString(), false);
                for (ExportedFunction function : object.functions()) {
                    if (function.name().equals(ANNOUNCEMENT)) {
                        all.add(
                                new LibraryProbe(
                                        name,
                                        path.toRealPath().toString(),
                                        function.offset(),
                                        function.offset(),
                                        ANNOUNCEMENT,
                                        name,
                                        LibraryPrototype.UNKNOWN.plan(0),
                                        true,
                                        false));
                    }
                }
            }
        }
        return all;
    }

    /** The object that has an address of a process; null when none has. */
    @Nullable TracedObject caller(int pid, long address, long nanos) {
        LoadedRange range = range(pid, address, nanos);
        return range == null ? null : range.object();
    }

    private @Nullable LoadedRange range(int pid, long address, long nanos) {
        NavigableMap<Long, List<LoadedRange>> all = ranges.get(pid);
        var since = all == null ? null : all.floorEntry(nanos);
        // The ranges of a process that runs are read after its first calls.
        since = since == null && all != null ? all.firstEntry() : since;
        for (LoadedRange one : since == null ? List.<LoadedRange>of() : since.getValue()) {
            if (Long.compareUnsigned(address, one.range().start()) >= 0
                    && Long.compareUnsigned(address, one.range().end()) <= 0) {
                return one;
            }
        }
        return null;
    }

    @Override
    public synchronized void close() {
        opened.values().forEach(TargetFile::close);
        opened.clear();
    }

    synchronized List<String> notes() {
        return List.copyOf(notes);
    }
}
