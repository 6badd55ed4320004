package sonde.tools.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.event.KernelIdentity;
import sonde.event.Recording;
import sonde.open.ReportSource;
import sonde.symbol.KernelMaps;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelRun.LoadedModule;
import sonde.symbol.KernelSymbols;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.PerfCache;
import sonde.sys.MachineFacts;

/** What the parts of a recording say of the kernel that it was made on. */
final class RecordedKernel {
    private RecordedKernel() {}

    /**
     * Functions as the recording has them, else those of this machine where it is the same kernel,
     * else what perf kept of it; none where there is nothing.
     */
    static KernelSymbols symbols(ReportSource source, SymbolOptions from) throws IOException {
        if (source.kallsyms().length > 0) {
            return KernelSymbols.parse(source.kallsyms());
        }
        for (Recording recording : source.recordings()) {
            if (recording.hasKernelRecords()) {
                return KernelSymbols.parse(kallsyms(recording, from.folders()));
            }
        }
        Path own = Path.of("/proc/kallsyms");
        return from.sameMachine() && Files.isReadable(own)
                ? KernelSymbols.parse(Files.readAllBytes(own))
                : KernelSymbols.none();
    }

    /**
     * The text of kallsyms that a recording has, else of /proc/kallsyms when the recorded kernel is
     * the one that runs now, else what perf kept of it, else nothing.
     */
    static byte[] kallsyms(Recording recording, List<String> folders) {
        byte[] kept = recording.kallsyms();
        return kept.length == 0 ? found(recording, folders) : kept;
    }

    /** As {@link #kallsyms}, without what the file itself has. */
    static byte[] found(Recording recording, List<String> folders) {
        try {
            return search(recording, folders);
        } catch (IOException e) {
            return new byte[0];
        }
    }

    private static byte[] search(Recording recording, List<String> folders) throws IOException {
        KernelIdentity kernel = recording.kernel();
        byte[] wanted = kernel.buildId();
        byte[] own = KernelRun.buildIdHere();
        String release = kernel.release();
        boolean same =
                wanted.length == 0
                        ? release.isEmpty() || release.equals(MachineFacts.uname().release())
                        : own.length > 0 && hex(wanted).startsWith(hex(own));
        Optional<Path> place =
                same
                        ? Optional.of(Path.of("/proc/kallsyms"))
                        : PerfCache.file(folders, wanted, "kallsyms");
        return place.isPresent() && Files.isReadable(place.get())
                ? Files.readAllBytes(place.get())
                : new byte[0];
    }

    private static String hex(byte[] id) {
        return HexFormat.of().formatHex(id);
    }

    /**
     * The kernel as a whole.
     *
     * @param symbols as {@link #symbols} gives them
     * @param maps of what was mapped, after all rows
     */
    static KernelRun run(ReportSource source, KernelSymbols symbols, KernelMaps maps) {
        String release = source.meta() == null ? "" : source.meta().machine().kernelRelease();
        byte[] id = {};
        Map<String, byte[]> moduleIds = new HashMap<>();
        for (Recording recording : source.recordings()) {
            KernelIdentity kernel = recording.kernel();
            id = id.length == 0 ? kernel.buildId() : id;
            release = release.isEmpty() ? kernel.release() : release;
            kernel.moduleIds().forEach((path, own) -> moduleIds.putIfAbsent(moduleName(path), own));
        }
        List<LoadedModule> modules = new ArrayList<>();
        maps.forEach((start, end, file) -> {
            String name = moduleName(file);
            if (!name.startsWith("[kernel")) {
                byte[] own = moduleIds.getOrDefault(name, new byte[0]);
                modules.add(new LoadedModule(name, start, end, own));
                moduleIds.remove(name);
            }
        });
        moduleIds.forEach((name, own) -> {
            if (!name.startsWith("[kernel")) {
                modules.add(new LoadedModule(name, 0, 0, own));
            }
        });
        return new KernelRun(
                release, id, moved(symbols, maps.references()), maps.references(), modules);
    }

    /** Symbols of another boot of the same kernel lie elsewhere. */
    private static KernelSymbols moved(KernelSymbols symbols, Map<String, Long> references) {
        for (Map.Entry<String, Long> one : references.entrySet()) {
            long here = symbols.count() == 0 ? 0 : symbols.addressOf(one.getKey());
            if (here != 0) {
                return here == one.getValue() ? symbols : symbols.moved(one.getValue() - here);
            }
        }
        return symbols;
    }

    /** {@code /lib/modules/…/snd-hda.ko.xz} is {@code [snd_hda]}, {@code [ext4]} as it is. */
    private static String moduleName(String path) {
        if (path.startsWith("[")) {
            return path;
        }
        String file = path.substring(path.lastIndexOf('/') + 1);
        int dot = file.indexOf(".ko");
        return "[" + (dot < 0 ? file : file.substring(0, dot)).replace('-', '_') + "]";
    }
}
