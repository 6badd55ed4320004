package sonde.binary.dwarf.section;

import java.util.Arrays;
import sonde.binary.AddressOrder;

/** Rows of a line program, from an address on: file, line, column, flags. */
public final class ProgramRows {
    /** Flag: a stop is recommended there. */
    public static final int STATEMENT = 1;

    /** Flag: the function's frame is complete there. */
    public static final int PROLOGUE_END = 2;

    /** Flag: it only says where a run of rows ends. */
    public static final int END = 4;

    private long[] addresses = new long[256];
    private int[] files = new int[256];
    private int[] lines = new int[256];
    private int[] columns = new int[256];
    private byte[] flags = new byte[256];
    private int count;

    public void add(long address, int file, int line, int column, int flag) {
        if (count == addresses.length) {
            addresses = Arrays.copyOf(addresses, 2 * count);
            files = Arrays.copyOf(files, 2 * count);
            lines = Arrays.copyOf(lines, 2 * count);
            columns = Arrays.copyOf(columns, 2 * count);
            flags = Arrays.copyOf(flags, 2 * count);
        }
        addresses[count] = address;
        files[count] = file;
        lines[count] = line;
        columns[count] = column;
        flags[count++] = (byte) flag;
    }

    /** Adds all rows of others. */
    public void addAll(ProgramRows others) {
        for (int i = 0; i < others.count; i++) {
            add(others, i);
        }
    }

    /** Adds one row of others. */
    public void add(ProgramRows others, int row) {
        add(
                others.addresses[row],
                others.files[row],
                others.lines[row],
                others.columns[row],
                others.flags[row]);
    }

    public int count() {
        return count;
    }

    public void clear() {
        count = 0;
    }

    public long address(int row) {
        return addresses[row];
    }

    public int file(int row) {
        return files[row];
    }

    public int line(int row) {
        return lines[row];
    }

    public int column(int row) {
        return columns[row];
    }

    /** Whether a row has a flag. */
    public boolean is(int row, int flag) {
        return (flags[row] & flag) != 0;
    }

    /**
     * As {@link #add}, where a later row of one address takes the place of the earlier and a row
     * that says nothing new is left out.
     */
    public void merge(long address, int file, int line, int column) {
        if (count > 0 && addresses[count - 1] == address) {
            count--;
        }
        boolean same =
                count > 0
                        && files[count - 1] == file
                        && lines[count - 1] == line
                        && columns[count - 1] == column;
        if (!same) {
            add(address, file, line, column, 0);
        }
    }

    /** Index of the last row at or below an address, -1 for none. */
    public int floor(long address) {
        return AddressOrder.floor(addresses, count, address);
    }

    /** Puts rows in the order of their addresses; most programs have them so (DWARF 5, 6.2.5). */
    public void sort() {
        boolean sorted = true;
        for (int i = 1; i < count && sorted; i++) {
            sorted = Long.compareUnsigned(addresses[i - 1], addresses[i]) <= 0;
        }
        if (sorted) {
            return;
        }
        ProgramRows copy = new ProgramRows();
        for (int i : AddressOrder.of(addresses, count)) {
            copy.add(this, i);
        }
        addresses = copy.addresses;
        files = copy.files;
        lines = copy.lines;
        columns = copy.columns;
        flags = copy.flags;
    }
}
