package sonde.format.dwarf.code;

import sonde.format.MalformedInputException;

/** Runs a line program (DWARF 5, 6.2); all versions from 2 to 5. */
final class LineProgram {
    /** Rows of one sequence: more than the largest unit has. */
    private static final int MOST_ROWS = 1 << 25;

    /** Takes what a program makes. */
    interface Sink {
        /**
         * Rows that lie together.
         *
         * @param rows in the order of the program; valid during the call
         * @param end address behind the last
         */
        void sequence(LineRows rows, long end);
    }

    private final SectionCursor cursor;
    private final LineFiles files;
    private final LineRows rows = new LineRows();
    private final int version;
    private final long end;
    private final long program;
    private final int step;
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

    /**
     * Reads the head.
     *
     * @param offset of it in {@code .debug_line}
     * @param folder the compiler's, where relative names begin
     */
    LineProgram(FileReader reader, long offset, String folder, UnitHeader unit, long stringsBase)
            throws MalformedInputException {
        cursor = reader.lines;
        cursor.seek(offset);
        long length = cursor.u32();
        int offsetBytes = 4;
        if (length == 0xffff_ffffL) {
            length = cursor.u64();
            offsetBytes = 8;
        }
        if (length < 0 || length > cursor.size() - cursor.position()) {
            throw cursor.malformed("a table of " + length + " bytes");
        }
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
        cursor.skip(1); // default_is_stmt: every row counts here
        lineBase = (byte) cursor.u8();
        lineRange = Math.max(1, cursor.u8());
        base = cursor.u8();
        operands = new int[Math.max(1, base)];
        for (int i = 1; i < base; i++) {
            operands[i] = cursor.u8();
        }
        UnitHeader sizes =
                new UnitHeader(0, 0, end, version, offsetBytes, unit.addressBytes(), 0, 0, 0);
        files = new LineFiles(reader, folder, sizes);
        if (stringsBase > 0) {
            files.stringsBase(stringsBase);
        }
        files.read(cursor);
    }

    LineFiles files() {
        return files;
    }

    /** Gives all sequences. */
    void run(Sink sink) throws MalformedInputException {
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
        rows.count = 0;
    }

    private void row() throws MalformedInputException {
        if (rows.count == MOST_ROWS) {
            throw cursor.malformed("a sequence without end");
        }
        rows.add(address, file, line, column);
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
            case 6, 7, 10, 11 -> {} // negate_stmt, set_basic_block, prologue, epilogue
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
