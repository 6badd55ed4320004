package sonde.binary.unwind;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.unwind.UnwindTable.RowTaker;

/**
 * {@code .eh_frame} or {@code .debug_frame}. All FDEs are put in order at first use; the
 * instructions of one are run when an address in it is first asked for, and become rows of (offset
 * in the function, rule), 8 bytes each, with equal rules held once.
 */
final class CfiSection implements FrameSource {
    /** Which of the two: they differ in the ids of CIEs and the encoding of addresses. */
    enum Kind {
        EH_FRAME,
        DEBUG_FRAME
    }

    private static final int MOST_NOTES = 4;
    private static final int WINDOW = 1 << 10;
    private static final int MOST_FUNCTIONS = 1 << 23;
    private static final int MOST_RULES = 1 << 18;
    private static final int MOST_ROWS = 1 << 24;
    private static final int MOST_CIES = 1 << 16;
    private static final int NOT_COMPILED = -1;

    private final Kind kind;
    private final UnwindMachine machine;
    private final SectionCursor in;
    private final PointerEncoding encoding;
    private final List<String> notes;
    private final Map<Long, Cie> cies = new HashMap<>();
    private final Map<FrameRule, Integer> numbers = new HashMap<>();
    private final MemorySegment bytes;
    private @Nullable FunctionIndex index;
    private int[] firstRow = {};
    private int[] rowCount = {};
    private FrameRule[] rules = new FrameRule[64];
    private int[] rowOffsets = new int[256];
    private int[] rowRules = new int[256];
    private int rows;

    // What the entry that was read last says; -1 at a terminator.
    private long entryId;
    private long entryEnd;

    /**
     * @param bytes of the section; kept
     * @param notes gets what is wrong with it
     */
    CfiSection(
            Kind kind,
            UnwindMachine machine,
            MemorySegment bytes,
            ByteOrder order,
            PointerEncoding encoding,
            List<String> notes) {
        this.kind = kind;
        this.machine = machine;
        this.encoding = encoding;
        this.notes = notes;
        String name = kind == Kind.EH_FRAME ? ".eh_frame" : ".debug_frame";
        in = new SectionCursor(name, bytes, order, WINDOW);
        this.bytes = bytes;
    }

    /** The functions in order, which are read when something is first asked for. */
    private FunctionIndex index() {
        if (index == null) {
            FunctionIndex.Builder found = new FunctionIndex.Builder();
            scan(found, bytes.byteSize());
            index = found.build();
            firstRow = new int[index.count()];
            rowCount = new int[index.count()];
            Arrays.fill(firstRow, NOT_COMPILED);
        }
        return index;
    }

    @Override
    public int functions() {
        return index().count();
    }

    @Override
    public void compact(CompactCfi.RuleRows taker) {
        new CompactCfi(kind, bytes.toArray(ValueLayout.JAVA_BYTE), encoding, taker).run();
    }

    private void scan(FunctionIndex.Builder found, long size) {
        long next = 0;
        while (next < size && found.count() < MOST_FUNCTIONS) {
            long at = next;
            try {
                next = entry(at, size);
                if (entryId >= 0) {
                    function(found, at);
                }
            } catch (MalformedInputException e) {
                note(e.getMessage());
                if (next <= at) {
                    return; // its length makes no sense: nothing tells where the next begins
                }
            }
        }
    }

    private void note(@Nullable String text) {
        if (notes.size() < MOST_NOTES) {
            notes.add(String.valueOf(text));
        }
    }

    /**
     * Reads length and id of the entry at {@code at}; {@code in} stands behind them.
     *
     * @return where the next one begins; {@code entryId} is the place of the CIE, -1 for others
     */
    private long entry(long at, long size) throws MalformedInputException {
        in.seek(at, size);
        entryId = -1;
        long length = in.u32();
        boolean wide = length == 0xffff_ffffL;
        if (wide) {
            length = in.u64();
        }
        if (length == 0) {
            return in.position(); // a terminator: crtend.o's may lie amidst those of other objects
        }
        if (length < 4 || length > size - in.position()) {
            throw in.malformed("an entry of " + Long.toUnsignedString(length) + " bytes");
        }
        long idAt = in.position();
        entryEnd = in.position() + length;
        in.seek(idAt, entryEnd);
        // 64-bit entries of .debug_frame have a wide id; those of .eh_frame as gcc's reads them
        long id = wide && kind == Kind.DEBUG_FRAME ? in.u64() : in.u32();
        boolean common = kind == Kind.EH_FRAME ? id == 0 : id == (wide ? -1L : 0xffff_ffffL);
        if (!common) {
            entryId = kind == Kind.EH_FRAME ? idAt - id : id;
            if (entryId < 0 || entryId >= size) {
                entryId = -1;
                note(in.malformed("no CIE there: " + id).getMessage());
            }
        }
        return entryEnd;
    }

    /** Reads the FDE behind whose id {@code in} stands. */
    private void function(FunctionIndex.Builder found, long at) throws MalformedInputException {
        long here = in.position();
        long end = entryEnd;
        Cie cie = cie(entryId);
        in.seek(here, end);
        long start = start(cie);
        found.add(start, size(cie), at);
    }

    private long start(Cie cie) throws MalformedInputException {
        in.skip(cie.segmentBytes());
        return cie.pointers() == PointerEncoding.ABSOLUTE
                ? in.unsigned(cie.addressBytes())
                : encoding.pointer(in, cie.pointers(), 0);
    }

    private long size(Cie cie) throws MalformedInputException {
        return cie.pointers() == PointerEncoding.ABSOLUTE
                ? in.unsigned(cie.addressBytes())
                : encoding.value(in, cie.pointers());
    }

    private Cie cie(long at) throws MalformedInputException {
        Cie known = cies.get(at);
        if (known != null) {
            return known;
        }
        long keptId = entryId;
        long keptEnd = entryEnd;
        entry(at, in.size());
        boolean common = entryId < 0 && in.position() > at + 4;
        entryId = keptId;
        entryEnd = keptEnd;
        if (!common || cies.size() == MOST_CIES) {
            throw in.malformed("an FDE without a valid CIE");
        }
        Cie read = Cie.read(in, encoding);
        cies.put(at, read);
        return read;
    }

    @Override
    public @Nullable FrameRule find(long address) {
        FunctionIndex index = index();
        int function = index.find(address);
        if (function < 0) {
            return null;
        }
        if (firstRow[function] == NOT_COMPILED) {
            compile(function);
        }
        long offset = address - index.start(function);
        int low = firstRow[function];
        int high = low + rowCount[function] - 1;
        int first = low;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Integer.toUnsignedLong(rowOffsets[middle]) <= offset) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high < first ? null : rules[rowRules[high]];
    }

    @Override
    public void each(RowTaker taker) {
        String name = kind == Kind.EH_FRAME ? ".eh_frame" : ".debug_frame";
        FunctionIndex index = index();
        for (int function = 0; function < index.count(); function++) {
            if (firstRow[function] == NOT_COMPILED) {
                compile(function);
            }
            long start = index.start(function);
            for (int i = 0; i < rowCount[function]; i++) {
                int row = firstRow[function] + i;
                long at = start + Integer.toUnsignedLong(rowOffsets[row]);
                taker.row(name, start, index.sizeBytes(function), at, rules[rowRules[row]]);
            }
        }
    }

    /** Runs the instructions of a function; where they break off, the rows before stay. */
    private void compile(int function) {
        FunctionIndex index = index();
        firstRow[function] = rows;
        long at = index.place(function);
        try {
            entry(at, in.size());
            long here = in.position();
            long end = entryEnd;
            Cie cie = cie(entryId);
            in.seek(here, end);
            start(cie);
            size(cie);
            if (cie.isAugmented()) {
                in.skip(in.uleb());
            }
            new CfiProgram(machine, encoding, in, cie, index.start(function))
                    .run(in.position(), end, (offset, rule) -> row(function, offset, rule));
        } catch (MalformedInputException e) {
            note(e.getMessage());
        }
    }

    private void row(int function, long offset, FrameRule rule) throws MalformedInputException {
        Integer number = numbers.get(rule);
        if (number == null) {
            if (numbers.size() == MOST_RULES) {
                throw in.malformed("more than " + MOST_RULES + " rules");
            }
            number = numbers.size();
            numbers.put(rule, number);
            if (number == rules.length) {
                rules = Arrays.copyOf(rules, 2 * number);
            }
            rules[number] = rule;
        }
        if (rows == MOST_ROWS) {
            throw in.malformed("more than " + MOST_ROWS + " rows");
        }
        if (rows == rowOffsets.length) {
            rowOffsets = Arrays.copyOf(rowOffsets, 2 * rows);
            rowRules = Arrays.copyOf(rowRules, 2 * rows);
        }
        rowOffsets[rows] = (int) offset;
        rowRules[rows++] = number;
        rowCount[function]++;
    }
}
