package sonde.binary.unwind;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSegment;

/**
 * The unwinding rules of a file of x86-64 as rows of 8 bytes, sorted by offset in the file: each
 * holds from its offset to the next row's. Code without rules has rows of {@link CompactRule#NONE}.
 *
 * <p>Beside call frame information there are rows for what compilers and linkers leave without: the
 * stubs of a procedure linkage table, {@code .init} and {@code .fini}, the entry of ld.so.
 */
public final class CompactUnwindTable {
    private static final int MOST_ROWS = 1 << 23;

    /** Another meaning of rows needs another one. */
    private static final long MAGIC = 0x4577_6f72_6e75_6e75L;

    /** u64 magic, u32 rows, u32 CRC-32C of the rows. */
    private static final int HEAD_BYTES = 16;

    private static final int STUB_LIMIT_BYTES = 1 << 20;
    private static final int INIT_LIMIT_BYTES = 256;

    private static final int MOST_TRAMPOLINES = 8;

    /** Those of ld.so, which go on in {@code _dl_start_user}, are 61. */
    private static final int ENTRY_BYTES = 64;

    private static final long CODE_LIMIT_BYTES = 4 << 20;

    /** Less is padding between functions. */
    private static final int LEAST_CODE_BYTES = 16;

    // sub $8, %rsp and add $8, %rsp
    private static final byte[] SUB_RSP = {0x48, (byte) 0x83, (byte) 0xec, 8};
    private static final byte[] ADD_RSP = {0x48, (byte) 0x83, (byte) 0xc4, 8};

    private static final byte[] SYSCALL = {0x0f, 0x05};
    private static final int CLONED_8 =
            CompactRule.Kind.CLONED.ordinal() | 1 << CompactRule.OFFSET_SHIFT;
    private static final int RSP_8 = CompactRule.Kind.RSP.ordinal() | 1 << CompactRule.OFFSET_SHIFT;
    private static final int RSP_16 =
            CompactRule.Kind.RSP.ordinal() | 2 << CompactRule.OFFSET_SHIFT;

    /** Offset and rule in turn, as the kernel's program reads them. */
    private final int[] cells;

    private CompactUnwindTable(int[] cells) {
        this.cells = cells;
    }

    private CompactUnwindTable(int[] offsets, int[] rules, int count) {
        this(new int[2 * count]);
        for (int i = 0; i < count; i++) {
            cells[2 * i] = offsets[i];
            cells[2 * i + 1] = rules[i];
        }
    }

    /**
     * The rows of a file; damage hides only what lies behind it.
     *
     * @return empty for other machines than x86-64
     */
    public static Optional<CompactUnwindTable> of(ElfFile elf) {
        if (elf.machine() != ElfFile.EM_X86_64 || !elf.is64()) {
            return Optional.empty();
        }
        return UnwindTable.of(elf).map(table -> new UnwindRowCollector(elf, table).make());
    }

    /** How many rows. */
    public int rows() {
        return cells.length / 2;
    }

    /** Offset in the file from which a row holds, unsigned. */
    public int offset(int row) {
        return cells[2 * row];
    }

    /** Its {@link CompactRule}. */
    public int rule(int row) {
        return cells[2 * row + 1];
    }

    /** The rule at an offset in the file. */
    public int find(long offset) {
        int row = row(offset);
        return row < 0 ? CompactRule.NONE : rule(row);
    }

    /** The row at an offset in the file; -1 before the first. */
    private int row(long offset) {
        int low = 0;
        int high = rows() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Integer.toUnsignedLong(cells[2 * middle]) <= offset) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high;
    }

    /** The same rows, where those of a range of offsets are in the function of an interpreter. */
    public CompactUnwindTable withInterpreter(long start, long end) {
        int[] moreOffsets = new int[rows() + 2];
        int[] moreRules = new int[rows() + 2];
        int kept = 0;
        for (int i = 0; i < rows(); i++) {
            long from = Integer.toUnsignedLong(offset(i));
            long to = i + 1 < rows() ? Integer.toUnsignedLong(offset(i + 1)) : 1L << 32;
            long first = Math.max(from, start);
            long last = Math.min(to, end);
            if (from < first || first >= last) {
                moreOffsets[kept] = (int) from;
                moreRules[kept++] = rule(i);
            }
            if (first < last) {
                moreOffsets[kept] = (int) first;
                moreRules[kept++] = CompactRule.inInterpreter(rule(i));
                if (last < to) {
                    moreOffsets[kept] = (int) last;
                    moreRules[kept++] = rule(i);
                }
            }
        }
        return new CompactUnwindTable(moreOffsets, moreRules, kept);
    }

    /** Writes rows as the kernel's program reads them: u32 offset, u32 rule. */
    public void copy(int from, int count, MemorySegment to) {
        MemorySegment.copy(cells, 2 * from, to, ValueLayout.JAVA_INT_UNALIGNED, 0, 2 * count);
    }

    /** The rows as {@link #read} takes them. */
    public ByteBuffer bytes() {
        ByteBuffer bytes =
                ByteBuffer.allocate(HEAD_BYTES + 8 * rows()).order(ByteOrder.LITTLE_ENDIAN);
        copy(0, rows(), MemorySegment.ofBuffer(bytes).asSlice(HEAD_BYTES));
        return bytes.putLong(0, MAGIC).putInt(8, rows()).putInt(12, checksum(bytes));
    }

    private static int checksum(ByteBuffer bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes.duplicate().position(HEAD_BYTES));
        return (int) sum.getValue();
    }

    /**
     * Reads what {@link #bytes} made.
     *
     * @throws MalformedInputException when it is something else, damaged or of another version
     */
    public static CompactUnwindTable read(ByteBuffer file) throws MalformedInputException {
        ByteBuffer bytes = file.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        int count = bytes.capacity() < HEAD_BYTES ? -1 : bytes.getInt(8);
        boolean fits = count >= 0 && count <= MOST_ROWS;
        if (!fits
                || bytes.capacity() != HEAD_BYTES + 8L * count
                || bytes.getLong(0) != MAGIC
                || bytes.getInt(12) != checksum(bytes)) {
            throw new MalformedInputException(
                    "unwinding rows", "", 0, "damaged, or of another version");
        }
        int[] cells = new int[2 * count];
        bytes.position(HEAD_BYTES).slice().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(cells);
        return new CompactUnwindTable(cells);
    }

    /** Collects rows in any order. */
    private static final class UnwindRowCollector implements CompactCfi.RuleRows {
        private final ElfFile elf;
        private final UnwindTable table;
        private final List<ElfSegment> code;
        private final List<MemorySegment> contents;
        private long[] rows = new long[4096];
        private int count;
        private final List<Long> signals = new ArrayList<>();
        private long end = -1;
        private boolean sorted = true;
        private long leftCode = CODE_LIMIT_BYTES;

        /** So many rows are those of call frame information, in order. */
        private int stated;

        UnwindRowCollector(ElfFile elf, UnwindTable table) {
            this.elf = elf;
            this.table = table;
            code = elf.segments().stream().filter(ElfSegment::isCode).toList();
            contents = code.stream().map(this::content).toList();
        }

        private MemorySegment content(ElfSegment segment) {
            try {
                return elf.content(segment);
            } catch (MalformedInputException e) {
                return MemorySegment.NULL;
            }
        }

        CompactUnwindTable make() {
            table.compact(this);
            gap(end, Long.MAX_VALUE);
            sort();
            stated = count;
            table.goStacks().ifPresent(go -> go.compact(this::replace));
            stated = count;
            for (ElfSection section : elf.sections()) {
                switch (section.name()) {
                    case ".init", ".fini" -> attempt(section, INIT_LIMIT_BYTES, this::init);
                    case ".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt" ->
                            attempt(section, STUB_LIMIT_BYTES, this::stubs);
                    default -> {
                        // has call frame information, or is no code
                    }
                }
            }
            entry();
            CompactUnwindTable made = sortedAndMerged();
            int without = count;
            for (ElfSection section : elf.sections()) {
                boolean isCode = (section.flags() & ElfFile.SHF_EXECINSTR) != 0;
                if (isCode && section.type() == ElfFile.SHT_PROGBITS) {
                    instructions(made, section);
                }
            }
            sort();
            stated = count;
            int most = SignalTrampoline.CODE_BYTES;
            int signal = CompactRule.Kind.SIGNAL.ordinal();
            signals.stream()
                    .limit(MOST_TRAMPOLINES)
                    .forEach(at -> replace(at - 1, at + most, signal));
            return count > without ? sortedAndMerged() : made;
        }

        private CompactUnwindTable sortedAndMerged() {
            sort();
            return merged();
        }

        @Override
        public void function(long start, long sizeBytes) {
            if (start + sizeBytes != end) {
                gap(end, start > end ? start : Long.MAX_VALUE);
                end = start + sizeBytes;
            }
        }

        @Override
        public void row(long address, int rule) {
            add(address, rule == CompactRule.NONE ? CompactRule.UNFIT : rule);
        }

        @Override
        public long offset(long address) {
            for (ElfSegment segment : code) {
                long inside = address - segment.address();
                long offset = inside + segment.offset();
                if (inside >= 0 && inside <= segment.fileBytes() && offset >>> 32 == 0) {
                    return offset;
                }
            }
            return -1;
        }

        /** Rules of the section's code that has none. */
        private void instructions(CompactUnwindTable made, ElfSection section) {
            try {
                byte[] content = new byte[0];
                long start = section.offset();
                long end = start + elf.contentBytes(section);
                int row = made.row(start);
                for (long at = start; at < end; row++) {
                    long next = row + 1 < made.rows() ? made.offset(row + 1) & 0xffff_ffffL : end;
                    long stop = Math.min(next, end);
                    boolean none = row < 0 || made.rule(row) == CompactRule.NONE;
                    if (none && stop - at >= LEAST_CODE_BYTES && stop - at <= leftCode) {
                        leftCode -= stop - at;
                        if (content.length == 0) {
                            content = elf.content(section).toArray(ValueLayout.JAVA_BYTE);
                        }
                        long base = section.address();
                        CodeRows rows =
                                new CodeRows(
                                        content,
                                        base,
                                        (int) (at - start),
                                        (int) (stop - start),
                                        this::word);
                        rows.write((place, rule) -> add(base + place, rule));
                        rows.trampolines((place, rule) -> signals.add(base + place));
                    }
                    at = stop;
                }
            } catch (MalformedInputException e) {
                // the rows of the other sections hold all the same
            }
        }

        private long word(long address) {
            for (ElfSegment segment : elf.segments()) {
                long inside = address - segment.address();
                if (segment.type() == ElfFile.PT_LOAD
                        && inside >= 0
                        && inside + 4 <= segment.fileBytes()) {
                    try {
                        return elf.content(segment).get(ValueLayout.JAVA_INT_UNALIGNED, inside);
                    } catch (MalformedInputException e) {
                        return Long.MIN_VALUE;
                    }
                }
            }
            return Long.MIN_VALUE;
        }

        /**
         * Where a function ends. glibc's clone and clone3 end theirs before the system call, since
         * the new thread has no caller.
         *
         * @param next where the next function begins
         */
        private void gap(long address, long next) {
            int rule = CompactRule.NONE;
            for (int i = 0; i < code.size(); i++) {
                long at = address - code.get(i).address();
                MemorySegment bytes = contents.get(i);
                if (at >= 0 && at + SYSCALL.length <= bytes.byteSize()) {
                    if (bytes.get(ValueLayout.JAVA_BYTE, at) == SYSCALL[0]
                            && bytes.get(ValueLayout.JAVA_BYTE, at + 1) == SYSCALL[1]) {
                        rule = CLONED_8;
                    } else if (next - address < LEAST_CODE_BYTES && isPadding(bytes, at)) {
                        rule = CompactRule.CONTINUED;
                    }
                }
            }
            add(address, rule);
        }

        /** Instructions without effect: 90, 0f 1f with prefixes; int3. */
        private static boolean isPadding(MemorySegment bytes, long from) {
            long at = from;
            byte first = bytes.get(ValueLayout.JAVA_BYTE, at);
            while ((first == 0x66 || first == 0x2e) && at + 2 < bytes.byteSize()) {
                first = bytes.get(ValueLayout.JAVA_BYTE, ++at);
            }
            return first == (byte) 0x90
                    || first == (byte) 0xcc
                    || first == 0x0f && bytes.get(ValueLayout.JAVA_BYTE, at + 1) == 0x1f;
        }

        private void add(long address, int rule) {
            long offset = offset(address);
            if (offset >= 0 && count < MOST_ROWS) {
                addRow(offset << 32 | Integer.toUnsignedLong(rule));
            }
        }

        private void addRow(long row) {
            if (count == rows.length) {
                rows = Arrays.copyOf(rows, 2 * count);
            }
            sorted &= count == 0 || Long.compareUnsigned(rows[count - 1], row) <= 0;
            rows[count++] = row;
        }

        /** By offset, rows without a rule first; offsets are below 2^32, as signed numbers. */
        private void sort() {
            if (!sorted) {
                for (int i = 0; i < count; i++) {
                    rows[i] ^= Long.MIN_VALUE;
                }
                Arrays.sort(rows, 0, count);
                for (int i = 0; i < count; i++) {
                    rows[i] ^= Long.MIN_VALUE;
                }
                sorted = true;
            }
        }

        /** The last of the rows at one offset has a rule if any has; equal neighbours are one. */
        private CompactUnwindTable merged() {
            int[] cells = new int[2 * count];
            int kept = 0;
            for (int i = 0; i < count; i++) {
                int offset = (int) (rows[i] >>> 32);
                int rule = (int) rows[i];
                boolean last = i + 1 == count || (int) (rows[i + 1] >>> 32) != offset;
                if (last && (kept == 0 || cells[kept - 1] != rule)) {
                    cells[kept++] = offset;
                    cells[kept++] = rule;
                }
            }
            return new CompactUnwindTable(Arrays.copyOf(cells, kept));
        }

        /** Another rule holds in a range of addresses. */
        private void replace(long from, long to, int rule) {
            int behind = stated(to);
            long first = offset(from);
            long last = offset(to);
            if (first < 0 || last < first) {
                return;
            }
            int kept = 0;
            for (int i = 0; i < count; i++) {
                long offset = rows[i] >>> 32;
                if (offset < first || offset >= last) {
                    rows[kept++] = rows[i];
                }
            }
            count = kept;
            add(from, rule);
            add(to, behind);
            sort();
            stated = count;
        }

        private interface SectionRows {
            void read(ElfSection section, byte[] content);
        }

        private void attempt(ElfSection section, int mostBytes, SectionRows reader) {
            try {
                if (section.type() == ElfFile.SHT_PROGBITS
                        && section.sizeBytes() <= mostBytes
                        && stated(section.address()) == CompactRule.NONE) {
                    reader.read(section, elf.content(section).toArray(ValueLayout.JAVA_BYTE));
                }
            } catch (MalformedInputException e) {
                // the rows of the other sections hold all the same
            }
        }

        private int stated(long address) {
            long offset = offset(address);
            int low = 0;
            int high = offset < 0 ? -1 : stated - 1;
            while (low <= high) {
                int middle = (low + high) >>> 1;
                if (rows[middle] >>> 32 <= offset) {
                    low = middle + 1;
                } else {
                    high = middle - 1;
                }
            }
            return high < 0 ? CompactRule.NONE : (int) rows[high];
        }

        private void stubs(ElfSection section, byte[] content) {
            boolean head = section.name().equals(".plt");
            Plt stubs = new Plt(UnwindMachine.X86_64, content, section.address(), head);
            int before = CompactRule.NONE;
            for (int i = 0; i < content.length; i++) {
                @Nullable FrameRule found = stubs.find(section.address() + i);
                int rule = found == null ? CompactRule.NONE : CompactRule.of(found);
                if (rule != before) {
                    add(section.address() + i, rule);
                    before = rule;
                }
            }
            add(section.address() + content.length, CompactRule.NONE);
        }

        /** crti.S: takes 8 bytes of stack, calls, gives them back, returns. */
        private void init(ElfSection section, byte[] content) {
            add(section.address(), RSP_8);
            int taken = find(content, SUB_RSP, 0);
            if (taken >= 0) {
                add(section.address() + taken + SUB_RSP.length, RSP_16);
                int given = find(content, ADD_RSP, taken);
                if (given >= 0) {
                    add(section.address() + given + ADD_RSP.length, RSP_8);
                }
            }
            add(section.address() + content.length, CompactRule.NONE);
        }

        private static int find(byte[] content, byte[] part, int from) {
            for (int i = from; i + part.length <= content.length; i++) {
                if (Arrays.equals(content, i, i + part.length, part, 0, part.length)) {
                    return i;
                }
            }
            return -1;
        }

        /** Where a program or ld.so begins there is no caller. */
        private void entry() {
            if (elf.entry() != 0 && stated(elf.entry()) == CompactRule.NONE) {
                add(elf.entry(), CompactRule.Kind.END.ordinal());
                if (stated(elf.entry() + ENTRY_BYTES) == CompactRule.NONE) {
                    add(elf.entry() + ENTRY_BYTES, CompactRule.NONE);
                }
            }
        }
    }
}
