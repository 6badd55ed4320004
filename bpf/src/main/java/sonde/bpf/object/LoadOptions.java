package sonde.bpf.object;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;

/**
 * How an object is loaded.
 *
 * @param btf types to fit programs to instead of the running kernel's: a file as {@code
 *     /sys/kernel/btf/vmlinux}; null for the kernel's
 * @param pins folder of a bpffs in which maps that ask for it are found and pinned by name
 * @param sizes entries of maps in place of what the object says, by name
 * @param wanted programs that are loaded or not, by name, against what the object says
 * @param replaced programs of which a {@code freplace} program replaces a function, by its name
 * @param log how much of the verifier's words to keep
 */
public record LoadOptions(
        @Nullable Path btf,
        Path pins,
        Map<String, Integer> sizes,
        Map<String, Boolean> wanted,
        Map<String, Program> replaced,
        ProgramSpec.Log log) {
    /** The kernel's types, pins in {@code /sys/fs/bpf}, all programs, no log. */
    public static final LoadOptions USUAL =
            new LoadOptions(
                    null,
                    Path.of("/sys/fs/bpf"),
                    Map.of(),
                    Map.of(),
                    Map.of(),
                    ProgramSpec.Log.QUIET);

    /** Fits programs to the types of a file. */
    public LoadOptions withBtf(Path file) {
        return new LoadOptions(file, pins, sizes, wanted, replaced, log);
    }

    /** Pins elsewhere. */
    public LoadOptions withPins(Path folder) {
        return new LoadOptions(btf, folder, sizes, wanted, replaced, log);
    }

    /** Gives a map another size. */
    public LoadOptions withSize(String map, int maxEntries) {
        return new LoadOptions(btf, pins, plus(sizes, map, maxEntries), wanted, replaced, log);
    }

    /** Loads a program, or leaves it out. */
    public LoadOptions withProgram(String name, boolean isWanted) {
        return new LoadOptions(btf, pins, sizes, plus(wanted, name, isWanted), replaced, log);
    }

    /** Names the program of which another one replaces a function. */
    public LoadOptions replacing(String name, Program of) {
        return new LoadOptions(btf, pins, sizes, wanted, plus(replaced, name, of), log);
    }

    /** Keeps the verifier's words. */
    public LoadOptions with(ProgramSpec.Log amount) {
        return new LoadOptions(btf, pins, sizes, wanted, replaced, amount);
    }

    private static <V> Map<String, V> plus(Map<String, V> map, String key, V value) {
        Map<String, V> all = new HashMap<>(map);
        all.put(key, value);
        return Map.copyOf(all);
    }
}
