package sonde.symbol.line;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfSection;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelRun.LoadedModule;
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

    /**
     * The share of them that must be where the file has them; a few have equals, or were patched.
     */
    private static final double SAME = 0.9;

    private static final int PAGE = 4096;

    private final KernelRun run;
    private final String part;
    private final SourceSymbols file;

    /** Running address of the kernel minus the stated one, when known. */
    private final OptionalLong shift;

    /** Addresses as running of the functions of a module whose name is theirs alone, ascending. */
    private final long[] anchors;

    private final long[] shifts;

    private final List<PlacedSection> pieces;

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
        pieces = part.equals(KernelRun.KERNEL) ? List.of() : pieces(run, part, file);
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
            boolean known = unique > 0 || run.module(part).isPresent();
            return fits && known
                    ? new KernelPlacing(run, part, file, OptionalLong.empty(), at, far)
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

    /** A section of code of a module: where it was, and where its file has it. */
    private record PlacedSection(long running, long stated, long sizeBytes) {}

    /**
     * Without names of functions: the executable sections of a module lie one behind the other, in
     * the order of its file, those for its start elsewhere.
     */
    private static List<PlacedSection> pieces(KernelRun run, String part, SourceSymbols file) {
        long start = run.module(part).map(LoadedModule::start).orElse(0L);
        List<PlacedSection> pieces = new ArrayList<>();
        long offset = 0;
        for (ElfSection section : file.elf().sections()) {
            OptionalLong stated = file.sectionStart(section.name());
            boolean isCode = section.isExecutable() && !section.name().startsWith(".init");
            if (start != 0 && isCode && stated.isPresent()) {
                long alignment = Math.clamp(section.alignment(), 1, PAGE);
                offset = (offset + alignment - 1) / alignment * alignment;
                pieces.add(
                        new PlacedSection(start + offset, stated.getAsLong(), section.sizeBytes()));
                offset += section.sizeBytes();
            }
        }
        return pieces;
    }

    private long inPieces(long running) {
        for (PlacedSection piece : pieces) {
            if (Long.compareUnsigned(running - piece.running(), piece.sizeBytes()) < 0) {
                return piece.stated() + (running - piece.running());
            }
        }
        return -1;
    }

    /** Where a stated address was; 0 when that is not known. */
    private long running(long stated) {
        for (PlacedSection piece : pieces) {
            if (Long.compareUnsigned(stated - piece.stated(), piece.sizeBytes()) < 0) {
                return piece.running() + (stated - piece.stated());
            }
        }
        return shift.isPresent() ? stated + shift.getAsLong() : 0;
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
            return inPieces(running);
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

    /** Adds the functions of the file by their addresses as running, as /proc/kallsyms has them. */
    void writeKallsyms(StringBuilder text) throws MalformedInputException {
        String module = part.equals(KernelRun.KERNEL) ? "\n" : "\t" + part + "\n";
        file.forEachFunction((address, isGlobal, name) -> {
            long running = running(address);
            if (running != 0) {
                text.append(HexFormat.of().toHexDigits(running));
                text.append(isGlobal ? " T " : " t ").append(name).append(module);
            }
        });
    }
}
