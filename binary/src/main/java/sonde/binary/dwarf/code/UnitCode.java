package sonde.binary.dwarf.code;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.LineFiles;
import sonde.binary.dwarf.section.ProgramRows;

/**
 * What the code of one unit came from: intervals of functions and inlined calls, and lines. Belongs
 * to the thread that read it.
 *
 * <p>A node is a function or a call that was inlined; its parent is the node that it stands in. An
 * interval goes up to the next one and has the innermost node there; so does a row with its line.
 */
public final class UnitCode {
    /** No node, no row, no file. */
    public static final int NONE = -1;

    /** In a name: it stands in the supplementary file. */
    static final long IN_SUPPLEMENT = 1L << 62;

    private static final int MOST_NODES = 1 << 24;

    final NestedIntervals intervals = new NestedIntervals();
    final ProgramRows rows = new ProgramRows();
    private final CodeUnit own;
    private final NameReader nameReader;
    private @Nullable LineFiles files;
    private final boolean picked;
    private int nodes;
    private int[] parents = new int[64];
    private long[] names = new long[64];
    private int[] callFiles = new int[64];
    private int[] callLines = new int[64];
    private int[] callColumns = new int[64];

    /**
     * @param picked whether there are only rows of wanted addresses, which begin at them
     */
    UnitCode(CodeUnit own, NameReader nameReader, boolean picked) {
        this.picked = picked;
        this.own = own;
        this.nameReader = nameReader;
    }

    void files(LineFiles all) {
        files = all;
    }

    int node(int parent, long name) throws MalformedInputException {
        if (nodes == parents.length) {
            if (nodes >= MOST_NODES) {
                throw new MalformedInputException("DWARF", "unit", name, "too many functions");
            }
            int more = 2 * nodes;
            parents = Arrays.copyOf(parents, more);
            names = Arrays.copyOf(names, more);
            callFiles = Arrays.copyOf(callFiles, more);
            callLines = Arrays.copyOf(callLines, more);
            callColumns = Arrays.copyOf(callColumns, more);
        }
        parents[nodes] = parent;
        names[nodes] = name;
        callFiles[nodes] = NONE;
        return nodes++;
    }

    void call(int node, int file, int line, int column) {
        callFiles[node] = file;
        callLines[node] = line;
        callColumns[node] = column;
    }

    /** Number of functions and inlined calls. */
    public int nodeCount() {
        return nodes;
    }

    /** The node that holds a node, {@link #NONE} of a function; smaller than the node. */
    public int parent(int node) {
        return parents[node];
    }

    /** The name as programs are linked, or where there is none as it is written; may be empty. */
    public String name(int node) throws MalformedInputException {
        return nameReader.name(names[node]);
    }

    /** File of the call that a node is inlined for, as {@link #path} takes it. */
    public int callFile(int node) {
        return callFiles[node];
    }

    /** Line of the call, 0 where it is not said. */
    public int callLine(int node) {
        return callLines[node];
    }

    /** Column of the call, 0 where it is not said. */
    public int callColumn(int node) {
        return callColumns[node];
    }

    /** Number of intervals. */
    public int intervalCount() {
        return intervals.count();
    }

    /** Where an interval begins; ascending. */
    public long intervalStart(int interval) {
        return intervals.start(interval);
    }

    /** The innermost node of an interval, {@link #NONE} where there is nothing. */
    public int intervalNode(int interval) {
        return intervals.node(interval);
    }

    /** The innermost node at an address. */
    public int nodeAt(long address) {
        return intervals.at(address);
    }

    /** Whether lines begin where no function is: it may be nested in what has no code itself. */
    public boolean hasLinesOutsideFunctions() {
        int interval = -1;
        for (int row = 0; row < rows.count(); row++) {
            long address = rows.address(row);
            while (interval + 1 < intervals.count()
                    && Long.compareUnsigned(intervals.start(interval + 1), address) <= 0) {
                interval++;
            }
            boolean outside = interval < 0 || intervals.node(interval) == NONE;
            if (outside && rows.file(row) != NONE) {
                return true;
            }
        }
        return false;
    }

    /** Number of rows. */
    public int rowCount() {
        return rows.count();
    }

    /** The row that holds an address, {@link #NONE} for none. */
    public int rowAt(long address) {
        int row = rows.floor(address);
        boolean none = row < 0 || rows.file(row) == NONE || picked && rows.address(row) != address;
        return none ? NONE : row;
    }

    /** Where a row begins; ascending. */
    public long rowStart(int row) {
        return rows.address(row);
    }

    /** The file of a row, {@link #NONE} where lines end. */
    public int rowFile(int row) {
        return rows.file(row);
    }

    /** Line from 1, 0 where instructions have none. */
    public int rowLine(int row) {
        return rows.line(row);
    }

    /** Column from 1, 0 where it is not said. */
    public int rowColumn(int row) {
        return rows.column(row);
    }

    /** The whole path of a file; empty for none. */
    public String path(int file) throws MalformedInputException {
        return files == null ? "" : files.path(file);
    }

    /** The source file that was compiled; empty where it is not said. */
    public String compiled() throws MalformedInputException {
        return own.name();
    }
}
