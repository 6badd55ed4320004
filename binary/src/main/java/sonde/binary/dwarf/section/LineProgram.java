package sonde.binary.dwarf.section;

import sonde.binary.MalformedInputException;

/** Runs a line program (DWARF 5, 6.2); all versions from 2 to 5. */
public final class LineProgram {
    /** Rows of one sequence: more than the largest unit has. */
    private static final int MOST_ROWS = 1 << 25;

    /** Takes what a program makes. */
    public interface Sink {
        /**
         * Rows that lie together.
         *
         * @param rows in the order of the program; valid during the call
         * @param end address behind the last
         */
        void sequence(ProgramRows rows, long end) throws MalformedInputException;
    }

    private final SectionCursor cursor;
    private final LineFiles files;
    private final ProgramRows rows = new ProgramRows();
    private final int version;
    private final long end;
    private final long program;
    private final int step;
    private final boolean isStatement;
    private final int operations;
    private final int base;
    private final int lineBase;
    private final int lineRange;
    private final int[] operands;

    private long address;
    private int operation;
    private int file = 1;
    private int line = 1;
    private int column;
    private int flags;

    /**
     * What a unit says of its program.
     *
     * @param offset of it in {@code .debug_line}
     * @param folder the compiler's, where relative names begin
     * @param stringsBase DW_AT_str_offsets_base, 0 where it is not said
     */
    public record LineProgramUnit(long offset, String folder, int addressBytes, long stringsBase) {}

    /** Reads the head. */
    public LineProgram(SectionCursor lines, LineTexts texts, LineProgramUnit start)
            throws MalformedInputException {
        cursor = lines;
        cursor.seek(start.offset());
        long length = cursor.length();
        int offsetBytes = cursor.offsetBytes();
        end = cursor.position() + length;
        version = cursor.u16();
        if (version < 2 || version > 5) {
            throw cursor.malformed("line table of version " + version);
        }
        if (version >= 5) {
            cursor.skip(2); // address_size, segment_selector_size
        }
        long headBytes = cursor.unsigned(offsetBytes);
        program = cursor.position() + headBytes;
        if (headBytes < 0 || program > end) {
            throw cursor.malformed("a head of " + headBytes + " bytes");
        }
        step = cursor.u8();
        operations = version >= 4 ? Math.max(1, cursor.u8()) : 1;
        isStatement = cursor.u8() != 0;
        lineBase = (byte) cursor.u8();
        lineRange = Math.max(1, cursor.u8());
        base = cursor.u8();
        operands = new int[Math.max(1, base)];
        for (int i = 1; i < base; i++) {
            operands[i] = cursor.u8();
        }
        UnitHeader sizes =
                new UnitHeader(0, 0, end, version, offsetBytes, start.addressBytes(), 0, 0, 0, 0);
        files = new LineFiles(texts, start.folder(), sizes);
        if (start.stringsBase() > 0) {
            files.stringsBase(start.stringsBase());
        }
        files.read(cursor);
    }

    public LineFiles files() {
        return files;
    }

    /** Version of the table: 2 to 5. */
    public int version() {
        return version;
    }

    /** Rows of a sequence without an end, after {@link #run}. */
    public ProgramRows rows() {
        return rows;
    }

    /** Gives all sequences. */
    public void run(Sink sink) throws MalformedInputException {
        cursor.seek(program);
        reset();
        int range = lineRange;
        while (cursor.position() < end) {
            int opcode = cursor.u8();
            if (opcode >= base) {
                int adjusted = opcode - base;
                advance(adjusted / range);
                line += lineBase + adjusted % range;
                row();
            } else if (opcode == 0) {
                extended(sink);
            } else {
                standard(opcode);
            }
        }
    }

    private void reset() {
        address = 0;
        operation = 0;
        file = 1;
        line = 1;
        column = 0;
        flags = isStatement ? ProgramRows.STATEMENT : 0;
        rows.clear();
    }

    private void row() throws MalformedInputException {
        if (rows.count() == MOST_ROWS) {
            throw cursor.malformed("a sequence without end");
        }
        rows.add(address, file, line, column, flags);
        flags &= ProgramRows.STATEMENT;
    }

    /** By a number of operations: instructions, or parts of a VLIW bundle (6.2.5.1). */
    private void advance(long count) {
        if (operations == 1) {
            address += step * count;
        } else {
            long at = operation + count;
            address += step * (at / operations);
            operation = (int) (at % operations);
        }
    }

    private void standard(int opcode) throws MalformedInputException {
        switch (opcode) {
            case 1 -> row(); // copy
            case 2 -> advance(cursor.uleb()); // advance_pc
            case 3 -> line += (int) cursor.sleb(); // advance_line
            case 4 -> file = cursor.smallUleb(); // set_file
            case 5 -> column = cursor.smallUleb(); // set_column
            case 6 -> flags ^= ProgramRows.STATEMENT; // negate_stmt
            case 7, 11 -> {} // set_basic_block, set_epilogue_begin
            case 10 -> flags |= ProgramRows.PROLOGUE_END; // set_prologue_end
            case 8 -> advance((255 - base) / lineRange); // const_add_pc
            case 9 -> { // fixed_advance_pc
                address += cursor.u16();
                operation = 0;
            }
            default -> {
                for (int i = 0; i < operands[opcode]; i++) {
                    cursor.skipLeb();
                }
            }
        }
    }

    /** Operations that say their length (6.2.5.3). */
    private void extended(Sink sink) throws MalformedInputException {
        long length = cursor.uleb();
        long behind = cursor.position() + length;
        if (length <= 0 || behind > end || behind < 0) {
            throw cursor.malformed("an operation of " + length + " bytes");
        }
        switch (cursor.u8()) {
            case 1 -> { // end_sequence
                sink.sequence(rows, address);
                reset();
            }
            case 2 -> { // set_address
                address = cursor.unsigned((int) Math.min(9, length - 1));
                operation = 0;
            }
            case 3 -> files.named(cursor); // define_file
            default -> {}
        }
        cursor.seek(behind);
    }
}
