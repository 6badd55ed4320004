package sonde.lang.bpftrace.run;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import sonde.binary.unwind.RegisterValues;
import sonde.binary.unwind.UnwindMachine;
import sonde.binary.unwind.UnwindMemory;
import sonde.lang.type.StackCopy;
import sonde.symbol.ModuleImages;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.unwind.ModuleFrames;
import sonde.symbol.unwind.StackUnwinder;
import sonde.symbol.unwind.UnwindEnd;

/** Follows stacks that programs copied, by the call frame information of what is mapped. */
final class StackFollower {
    /** struct pt_regs, by DWARF's columns; -1 for what unwinding does not need. */
    private static final int[] COLUMNS = {
        15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, -1, 16, -1, -1, 7, -1
    };

    private static final int CODE_SEGMENT = StackCopy.REGISTERS + 17 * 8;

    /** Where the code segment's lowest bits are not these, no user code was interrupted. */
    private static final int USER_MODE = 3;

    private final StackUnwinder unwinder;
    private final Map<UnwindEnd, Long> cut = new TreeMap<>();
    private final Set<Integer> notWanted = new HashSet<>();
    private final List<String> complaints = new ArrayList<>();

    /** Uses the mappings that are known when a stack is unwound. */
    StackFollower(ProcessMaps maps) {
        ModuleFrames modules = new ModuleFrames(new ModuleImages(SymbolOptions.here()));
        unwinder = new StackUnwinder(UnwindMachine.X86_64, maps, modules);
    }

    /** The stack's bytes in a copy. */
    private record CopiedPages(ByteBuffer bytes, int from, long start, int count)
            implements UnwindMemory {
        @Override
        public boolean has(long address, int sizeBytes) {
            long offset = address - start;
            return offset >= 0 && offset <= count - sizeBytes;
        }

        @Override
        public long read(long address, int sizeBytes) {
            int at = from + (int) (address - start);
            return switch (sizeBytes) {
                case 1 -> bytes.get(at) & 0xffL;
                case 2 -> bytes.getShort(at) & 0xffffL;
                case 4 -> bytes.getInt(at) & 0xffff_ffffL;
                default -> bytes.getLong(at);
            };
        }
    }

    /**
     * The addresses of a copied stack, innermost first; none of threads of the kernel.
     *
     * @param at where {@link StackCopy} begins
     * @param frames at most
     */
    long[] unwind(byte[] bytes, int at, int frames) {
        if (bytes.length - at < StackCopy.BYTES) {
            return new long[0];
        }
        ByteBuffer copy =
                ByteBuffer.wrap(bytes, at, StackCopy.BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
        int pid = copy.getInt(0);
        long count = copy.getLong(StackCopy.COUNT);
        if (count == StackCopy.NOT_WANTED && notWanted.add(pid)) {
            complaints.add(
                    "No DWARF unwind data available for this process: "
                            + pid
                            + " is not one of --dwarf-pid");
        }
        if ((copy.getLong(CODE_SEGMENT) & USER_MODE) != USER_MODE) {
            return new long[0];
        }
        RegisterValues first = unwinder.first();
        first.clear();
        for (int i = 0; i < COLUMNS.length; i++) {
            if (COLUMNS[i] >= 0) {
                first.set(COLUMNS[i], copy.getLong(StackCopy.REGISTERS + 8 * i));
            }
        }
        long pointer = first.get(first.machine().stackPointer());
        long start = pointer & -StackCopy.PAGE_BYTES;
        int there = (int) Math.clamp(count, 0L, StackCopy.PAGES * (long) StackCopy.PAGE_BYTES);
        long[] chain = new long[frames];
        int found =
                unwinder.unwind(pid, new CopiedPages(copy, StackCopy.STACK, start, there), chain);
        UnwindEnd end = unwinder.end();
        if (!end.isComplete() && count != StackCopy.NOT_WANTED && found < frames) {
            cut.merge(end, 1L, Long::sum);
        }
        return Arrays.copyOf(chain, found);
    }

    /** What is to be told, once. */
    List<String> complaints() {
        List<String> all = List.copyOf(complaints);
        complaints.clear();
        return all;
    }

    /** Why stacks are not whole, and how many, a line each. */
    List<String> losses() {
        List<String> lines = new ArrayList<>();
        cut.forEach((end, count) ->
                lines.add(
                        count
                                + (count == 1 ? " stack" : " stacks")
                                + " of dw_ustack not whole: "
                                + end.text()));
        return lines;
    }
}
