package sonde.symbol.line;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;

/**
 * From addresses of a kernel that ran to those stated in a file of it.
 *
 * <p>The kernel moves as a whole (arch/x86/boot/compressed/kaslr.c), by a distance that functions
 * in both tell. Of a module each section is laid out by itself (layout_sections() of
 * kernel/module/main.c), so there each function tells for its own code.
 */
final class KernelPlacing {
    /** Functions that are compared. */
    private static final int MOST_COMPARED = 2048;

    /** Of them so many must be where the file has them; a few have equals, or were patched. */
    private static final double SAME = 0.9;

    private final KernelRun run;
    private final String part;
    private final SourceSymbols file;

    /** Of the kernel, when known: running address less stated. */
    private final OptionalLong shift;

    /** Addresses as running of the functions of a module whose name is theirs alone, ascending. */
    private final long[] anchors;

    private final long[] shifts;

    private KernelPlacing(
            KernelRun run,
            String part,
            SourceSymbols file,
            OptionalLong shift,
            long[] anchors,
            long[] shifts) {
        this.run = run;
        this.part = part;
        this.file = file;
        this.shift = shift;
        this.anchors = anchors;
        this.shifts = shifts;
    }

    /**
     * Compares functions.
     *
     * @param isSure whether the file is known to be that of the kernel that ran
     * @return null when it is of another build, or nothing says how far it moved
     */
    static @Nullable KernelPlacing of(
            KernelRun run, String part, SourceSymbols file, boolean isSure)
            throws MalformedInputException {
        boolean whole = part.equals(KernelRun.KERNEL);
        int[] some = functions(run.symbols(), part, whole);
        long[] at = new long[some.length];
        long[] far = new long[some.length];
        int unique = 0;
        int absent = 0;
        for (int index : some) {
            long[] stated = file.addresses(run.symbols().name(index));
            if (stated.length == 1) {
                at[unique] = run.symbols().address(index);
                far[unique++] = at[unique - 1] - stated[0];
            } else if (stated.length == 0) {
                absent++;
            }
        }
        at = Arrays.copyOf(at, unique);
        far = Arrays.copyOf(far, unique);
        int compared = unique + absent;
        if (!whole) {
            boolean fits = isSure || unique >= SAME * compared;
            OptionalLong start = unique == 0 ? start(run, part, file) : OptionalLong.empty();
            return fits && (unique > 0 || start.isPresent())
                    ? new KernelPlacing(run, part, file, start, at, far)
                    : null;
        }
        Vote vote = Vote.of(far);
        if (!isSure && compared > 0 && vote.votes() < SAME * compared) {
            return null;
        }
        OptionalLong told = told(run, file);
        OptionalLong shift = told.isEmpty() && unique > 0 ? OptionalLong.of(vote.value()) : told;
        return shift.isPresent()
                ? new KernelPlacing(run, part, file, shift, new long[0], new long[0])
                : null;
    }

    /** Functions of a part, of the kernel itself a sample. */
    private static int[] functions(KernelSymbols symbols, String part, boolean sample) {
        int step = sample ? Math.max(1, symbols.count() / MOST_COMPARED) : 1;
        int[] some = new int[symbols.count() / step + 1];
        int count = 0;
        for (int i = 0; i < symbols.count(); i += step) {
            if (symbols.module(i).equals(part)) {
                some[count++] = i;
            }
        }
        return Arrays.copyOf(some, count);
    }

    /** By the symbol that the record of the kernel's mapping names. */
    private static OptionalLong told(KernelRun run, SourceSymbols file)
            throws MalformedInputException {
        for (Map.Entry<String, Long> one : run.references().entrySet()) {
            long[] stated = file.addresses(one.getKey());
            if (stated.length == 1 && one.getValue() != 0) {
                return OptionalLong.of(one.getValue() - stated[0]);
            }
        }
        return OptionalLong.empty();
    }

    /** Without names of functions: the code of a module begins with its {@code .text}. */
    private static OptionalLong start(KernelRun run, String part, SourceSymbols file) {
        OptionalLong text = file.sectionStart(".text");
        long start = run.module(part).map(KernelRun.Loaded::start).orElse(0L);
        return text.isPresent() && start != 0
                ? OptionalLong.of(start - text.getAsLong())
                : OptionalLong.empty();
    }

    /** What most say. */
    private record Vote(long value, int votes) {
        static Vote of(long[] values) {
            Map<Long, Integer> votes = new HashMap<>();
            Vote most = new Vote(0, 0);
            for (long value : values) {
                int now = votes.merge(value, 1, Integer::sum);
                if (now > most.votes) {
                    most = new Vote(value, now);
                }
            }
            return most;
        }
    }

    /** The address in the file; -1 when it has none. */
    long stated(long running) throws MalformedInputException {
        if (shift.isPresent()) {
            return running - shift.getAsLong();
        }
        int symbol = run.symbols().find(running);
        if (symbol < 0 || !run.symbols().module(symbol).equals(part)) {
            return -1;
        }
        long start = run.symbols().address(symbol);
        long[] stated = file.addresses(run.symbols().name(symbol));
        if (stated.length == 1) {
            return stated[0] + (running - start);
        }
        // Several functions of that name: the one that lies as its neighbours do.
        int next = Arrays.binarySearch(anchors, start);
        next = next < 0 ? -next - 1 : next;
        for (int i = next - 1; i <= next; i++) {
            long far = i >= 0 && i < shifts.length ? shifts[i] : 0;
            if (far != 0 && LongStream.of(stated).anyMatch(one -> one == start - far)) {
                return running - far;
            }
        }
        return -1;
    }

    /** The functions of the file by their addresses as running, as /proc/kallsyms writes them. */
    byte[] kallsyms() throws MalformedInputException {
        long far = shift.orElse(0);
        StringBuilder text = new StringBuilder();
        file.forEachFunction((address, isGlobal, name) -> {
            text.append(HexFormat.of().toHexDigits(address + far));
            text.append(isGlobal ? " T " : " t ");
            text.append(name).append('\n');
        });
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }
}
