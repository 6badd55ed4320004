package sonde.binary.unwind;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.SectionCursor;

/**
 * {@code .sframe}: where CFA, return address and frame pointer are, for every place of the code
 * (the SFrame format, versions 1 to 3 of binutils 2.40, 2.41 and 2.46), for AMD64 and AArch64.
 */
final class SFrame implements FrameSource {
    private static final int WINDOW = 1 << 8;
    private static final int MAGIC = 0xdee2;
    private static final int HEADER_BYTES = 28;
    private static final int FLAG_START_PCREL = 4;
    private static final int ABI_AARCH64_LITTLE = 2;
    private static final int ABI_AMD64_LITTLE = 3;
    private static final int MOST_FUNCTIONS = 1 << 23;
    private static final int TYPE_FLEXIBLE = 1;
    private static final int FRAME_POINTER_BASE = 0;
    private static final int[] INDEX_BYTES = {0, 17, 20, 16};

    private final UnwindMachine machine;
    private final SectionCursor in;
    private final int version;
    private final int fixedFramePointer;
    private final int fixedReturn;
    private final long rowsAt;
    private final long rowsEnd;
    private final FunctionIndex index;

    /** What is said of a function besides its place. */
    private record Function(long rows, int info, int type, int repeated, long from) {}

    /**
     * @param address of the section as stated in the ELF
     * @throws MalformedInputException when it is of another version or its parts lie outside
     */
    SFrame(UnwindMachine machine, MemorySegment bytes, ByteOrder order, long address)
            throws MalformedInputException {
        this.machine = machine;
        in = new SectionCursor(".sframe", bytes, order, WINDOW);
        if (in.u16() != MAGIC) {
            throw in.malformed("no SFrame magic");
        }
        version = in.u8();
        if (version < 1 || version > 3) {
            throw in.malformed("SFrame version " + version);
        }
        int flags = in.u8();
        int abi = in.u8();
        boolean fits =
                abi == ABI_AMD64_LITTLE && machine == UnwindMachine.X86_64
                        || abi == ABI_AARCH64_LITTLE && machine == UnwindMachine.AARCH64;
        if (!fits) {
            throw in.malformed("SFrame for ABI " + abi);
        }
        fixedFramePointer = (byte) in.u8();
        fixedReturn = (byte) in.u8();
        int auxiliaryBytes = in.u8();
        long count = in.u32();
        in.u32(); // number of rows
        long rowBytes = in.u32();
        long base = (long) HEADER_BYTES + auxiliaryBytes;
        long indexAt = base + in.u32();
        rowsAt = base + in.u32();
        rowsEnd = rowsAt + rowBytes;
        int entryBytes = INDEX_BYTES[version];
        if (count > MOST_FUNCTIONS) {
            throw in.malformed(count + " functions");
        }
        in.seek(indexAt, indexAt + count * entryBytes);
        in.seek(rowsAt, rowsEnd);
        FunctionIndex.Builder found = new FunctionIndex.Builder();
        for (long i = 0; i < count; i++) {
            long at = indexAt + i * entryBytes;
            in.seek(at, at + entryBytes);
            long relative = version == 3 ? in.u64() : in.signed(4);
            long start = address + relative + ((flags & FLAG_START_PCREL) != 0 ? at : 0);
            found.add(start, in.u32(), at);
        }
        index = found.build();
    }

    @Override
    public int functions() {
        return index.count();
    }

    @Override
    public @Nullable FrameRule find(long address) {
        int at = index.find(address);
        if (at < 0) {
            return null;
        }
        try {
            Function function = function(index.place(at));
            long offset = address - index.start(at);
            boolean repeats = (function.info >> 4 & 1) != 0 && function.repeated > 0;
            return rule(function, repeats ? offset % function.repeated : offset);
        } catch (MalformedInputException e) {
            return null; // the rows of this function lie outside
        }
    }

    private Function function(long at) throws MalformedInputException {
        in.seek(at, at + INDEX_BYTES[version]);
        if (version == 3) {
            in.skip(12);
            long from = rowsAt + in.u32();
            in.seek(from, rowsEnd);
            return new Function(in.u16(), in.u8(), in.u8() & 0x1f, in.u8(), in.position());
        }
        in.skip(8);
        long from = rowsAt + in.u32();
        long rows = in.u32();
        int info = in.u8();
        int repeated = version == 2 ? in.u8() : 16;
        return new Function(rows, info & 0x7f, 0, repeated, from);
    }

    /** The last row that begins at or before an offset. */
    private @Nullable FrameRule rule(Function function, long offset)
            throws MalformedInputException {
        in.seek(function.from, rowsEnd);
        int startBytes = 1 << (function.info & 3);
        long best = -1;
        for (long row = 0; row < function.rows; row++) {
            long at = in.position();
            long start = unsigned(startBytes);
            if (start > offset) {
                break;
            }
            best = at;
            int info = in.u8();
            in.skip((long) (info >> 1 & 0xf) << (info >> 5 & 3));
        }
        if (best < 0) {
            return null;
        }
        in.seek(best, rowsEnd);
        unsigned(startBytes);
        return row(function);
    }

    private long unsigned(int sizeBytes) throws MalformedInputException {
        return in.signed(sizeBytes) & (1L << 8 * sizeBytes) - 1;
    }

    private FrameRule row(Function function) throws MalformedInputException {
        int info = in.u8();
        int count = info >> 1 & 0xf;
        int size = 1 << (info >> 5 & 3);
        long[] words = new long[count];
        for (int i = 0; i < count; i++) {
            words[i] = in.signed(size);
        }
        FrameRule.Builder rule = new FrameRule.Builder(machine);
        rule.signalFrame = (function.info & 0x80) != 0;
        if (count == 0) {
            return rule.cfa(machine.stackPointer(), 0)
                    .rule(machine.returnColumn(), FrameRule.UNDEFINED, 0)
                    .build();
        }
        if (function.type == TYPE_FLEXIBLE) {
            return flexible(rule, words, (1L << 8 * size) - 1);
        }
        boolean frame = (info & 1) == FRAME_POINTER_BASE;
        rule.cfa(frame ? machine.framePointer() : machine.stackPointer(), words[0]);
        int next = 1;
        if (fixedReturn != 0) {
            rule.rule(machine.returnColumn(), FrameRule.OFFSET, fixedReturn);
        } else if (next < count) {
            rule.rule(machine.returnColumn(), FrameRule.OFFSET, words[next++]);
        }
        if (next < count) {
            rule.rule(machine.framePointer(), FrameRule.OFFSET, words[next]);
        } else if (fixedFramePointer != 0) {
            rule.rule(machine.framePointer(), FrameRule.OFFSET, fixedFramePointer);
        }
        return rule.build();
    }

    /** Each rule is a control word and an offset; a single 0 stands for none (version 3). */
    private FrameRule flexible(FrameRule.Builder rule, long[] words, long mask)
            throws MalformedInputException {
        if (words.length < 2 || (words[0] & 1) == 0) {
            throw in.malformed("no rule for the CFA");
        }
        int register = (int) ((words[0] & mask) >>> 3);
        if ((words[0] & 2) != 0) {
            rule.cfa(expression(register, words[1], true));
        } else {
            rule.cfa(register, words[1]);
        }
        if (fixedReturn != 0) {
            rule.rule(machine.returnColumn(), FrameRule.OFFSET, fixedReturn);
        }
        int next = 2;
        for (int column : new int[] {machine.returnColumn(), machine.framePointer()}) {
            long control = next < words.length ? words[next++] & mask : 0;
            if (control == 0 || next == words.length) {
                continue;
            }
            long offset = words[next++];
            if ((control & 1) == 0) {
                rule.rule(column, FrameRule.OFFSET, offset);
            } else {
                byte kind = (control & 2) != 0 ? FrameRule.EXPRESSION : FrameRule.VAL_EXPRESSION;
                rule.rule(column, kind, 0, expression((int) (control >>> 3), offset, false));
            }
        }
        return rule.build();
    }

    /** DW_OP_bregx, then DW_OP_deref when asked for. */
    private static byte[] expression(int register, long offset, boolean deref) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(0x92);
        int rest = register;
        do {
            out.write(rest & 0x7f | (rest > 0x7f ? 0x80 : 0));
            rest >>>= 7;
        } while (rest != 0);
        long left = offset;
        boolean more = true;
        while (more) {
            int low = (int) (left & 0x7f);
            left >>= 7;
            more = left != 0 && left != -1 || (low >> 6 & 1) != (left & 1);
            out.write(low | (more ? 0x80 : 0));
        }
        if (deref) {
            out.write(0x06);
        }
        return out.toByteArray();
    }
}
