package sonde.symbol;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import sonde.binary.elf.ElfNote;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * A kernel as it ran, from one boot to the next: what its addresses mean depends on it, for kernel
 * and modules lie elsewhere after each boot.
 *
 * @param release as {@code uname -r} gives it; empty when not known
 * @param buildId of the kernel; empty when not known
 * @param symbols functions by their addresses as running
 * @param references addresses as running of symbols by name, {@code _text}, {@code _stext}: those
 *     that perf's record of the kernel's mapping tells
 * @param modules that were loaded, as far as records tell
 */
public record KernelRun(
        String release,
        byte[] buildId,
        KernelSymbols symbols,
        Map<String, Long> references,
        List<LoadedModule> modules) {
    private static final int MOST_SYMBOLS = 256 << 20;
    private static final int MOST_NOTES = 1 << 20;
    private static final Pattern RELEASE = Pattern.compile("[\\w+~:-][\\w.+~:-]{0,127}");

    /** What part of the kernel itself is called, in names of {@link KernelSymbols#module}. */
    public static final String KERNEL = "[kernel]";

    /** Nothing is known. */
    public static final KernelRun UNKNOWN =
            new KernelRun("", new byte[0], KernelSymbols.none(), Map.of(), List.of());

    /**
     * A module that was loaded.
     *
     * @param name in brackets, as {@link KernelSymbols#module} has it
     * @param start of its code; 0 when not known
     * @param end behind it
     * @param buildId empty when not known
     */
    public record LoadedModule(String name, long start, long end, byte[] buildId) {
        boolean holds(long address) {
            return start != 0
                    && Long.compareUnsigned(start, address) <= 0
                    && Long.compareUnsigned(address, end) < 0;
        }
    }

    public KernelRun {
        // It becomes part of paths, and a recording may say anything.
        release = RELEASE.matcher(release).matches() ? release : "";
        references = Map.copyOf(references);
        modules = List.copyOf(modules);
    }

    /** The kernel of this machine. */
    public static KernelRun here() {
        return new KernelRun(
                MachineFacts.uname().release(), buildIdHere(), symbolsHere(), Map.of(), List.of());
    }

    /** What {@code /proc/kallsyms} shows now; no symbols when it cannot be read. */
    public static KernelSymbols symbolsHere() {
        try {
            return KernelSymbols.parse(FileCalls.readAll("/proc/kallsyms", MOST_SYMBOLS));
        } catch (SyscallException e) {
            return KernelSymbols.none();
        }
    }

    /** The build-id of the kernel of this machine; empty where it is not said. */
    public static byte[] buildIdHere() {
        try {
            byte[] notes = FileCalls.readAll("/sys/kernel/notes", MOST_NOTES);
            return ElfNote.buildIdIn(notes).orElse(new byte[0]);
        } catch (IOException e) {
            return new byte[0];
        }
    }

    /** The same with other symbols. */
    public KernelRun with(KernelSymbols others) {
        return new KernelRun(release, buildId, others, references, modules);
    }

    /**
     * Which part of the kernel holds an address: {@link #KERNEL}, a module in brackets; empty for
     * none, or when nothing tells.
     */
    public String part(long address) {
        int symbol = symbols.find(address);
        if (symbol >= 0) {
            return symbols.module(symbol);
        }
        for (LoadedModule module : modules) {
            if (module.holds(address)) {
                return module.name();
            }
        }
        return symbols.count() == 0 && !references.isEmpty() ? KERNEL : "";
    }

    /** The module of a name; empty when no record told of it. */
    public Optional<LoadedModule> module(String name) {
        return modules.stream().filter(one -> one.name().equals(name)).findFirst();
    }

    /** The build-id of a part; empty when not known. */
    public byte[] buildId(String part) {
        return part.equals(KERNEL)
                ? buildId
                : module(part).map(LoadedModule::buildId).orElse(new byte[0]);
    }
}
