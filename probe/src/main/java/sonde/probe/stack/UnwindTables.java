package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.unwind.CompactRule;
import sonde.binary.unwind.CompactUnwindTable;
import sonde.bpf.BpfMap;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.map.MappedValues;
import sonde.sys.SyscallException;

/**
 * The rows of files as the unwinder in the kernel reads them: chunks of 1 MiB that are written
 * through shared memory, pieces (a run of rows within one chunk), and for each file its pieces.
 *
 * <p>A file is known by the number of its inode, the device of its file system as the kernel
 * encodes it, and the seconds of its last modification.
 */
final class UnwindTables implements AutoCloseable {
    /** Rows of a chunk, as a power of two; 8 bytes each. */
    static final int ROW_BITS = 17;

    /** Pieces of a file at most: 2 M rows. */
    static final int MOST_PIECES = 16;

    /** Key of a file: u64 inode, u32 device, u32 modified. */
    static final int KEY_BYTES = 16;

    /** Device of the key of the vdso, which no file system has: minor 1, major 0, inode 0. */
    static final int VDSO_DEVICE = 1;

    /** Report of an unknown file: its key, u64 tgid, start and end of the mapping. */
    static final int REPORT_BYTES = KEY_BYTES + 24;

    private static final int CHUNK_ROWS = 1 << ROW_BITS;
    private static final int MOST_CHUNKS = 64;
    private static final int MOST_PIECES_OF_ALL = 1 << 14;
    private static final int MOST_FILES = 1 << 13;
    private static final int REPORT_RING_BYTES = 1 << 20;
    private static final int PIECE_BYTES = 16;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    /** A value of 0 would say that the table is being made. */
    private static final Rows NO_ROWS = new Rows(1, 0);

    private final BpfMap files;
    private final BpfMap pieces;
    private final MappedValues pieceValues;
    private final BpfMap chunks;
    private final BpfMap reports;
    private final JvmTable jvms;
    private final RuntimeMaps runtimes;
    private final List<MappedValues> rows = new ArrayList<>();
    private final Map<UnwoundFile, Rows> known = new HashMap<>();
    private final List<int[]> placed = new ArrayList<>();
    private int usedRows = CHUNK_ROWS;
    private int usedPieces;

    private UnwindTables() throws IOException {
        try {
            files = made(new MapSpec("sonde_uw_files", MapType.HASH, KEY_BYTES, 8, MOST_FILES));
            pieces =
                    made(
                            new MapSpec(
                                            "sonde_uw_pieces",
                                            MapType.ARRAY,
                                            4,
                                            PIECE_BYTES,
                                            MOST_PIECES_OF_ALL)
                                    .with(MapSpec.MAPPABLE));
            pieceValues = MappedValues.of(pieces, true);
            parts.push(pieceValues);
            reports =
                    made(
                            new MapSpec(
                                    "sonde_uw_miss", MapType.RING_BUFFER, 0, 0, REPORT_RING_BYTES));
            jvms = new JvmTable();
            parts.push(jvms);
            runtimes = new RuntimeMaps(reports);
            parts.push(runtimes);
            try (BpfMap pattern = BpfMap.create(chunkSpec())) {
                chunks =
                        made(
                                new MapSpec(
                                                "sonde_uw_rows",
                                                MapType.ARRAY_OF_MAPS,
                                                4,
                                                4,
                                                MOST_CHUNKS)
                                        .withInner(pattern));
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Empty tables. */
    static UnwindTables open() throws IOException {
        return new UnwindTables();
    }

    private BpfMap made(MapSpec spec) throws IOException {
        BpfMap map = BpfMap.create(spec);
        parts.push(map);
        return map;
    }

    private static MapSpec chunkSpec() {
        return new MapSpec("sonde_uw_chunk", MapType.ARRAY, 4, 8 * CHUNK_ROWS, 1)
                .with(MapSpec.MAPPABLE);
    }

    BpfMap files() {
        return files;
    }

    BpfMap pieces() {
        return pieces;
    }

    BpfMap chunks() {
        return chunks;
    }

    JvmTable jvms() {
        return jvms;
    }

    BpfMap reports() {
        return reports;
    }

    RuntimeMaps runtimes() {
        return runtimes;
    }

    /** What tells a file. */
    record UnwoundFile(long inode, int device, int modified) {
        MemorySegment in(Arena arena) {
            MemorySegment key = arena.allocate(KEY_BYTES, 8);
            key.set(JAVA_LONG, 0, inode);
            key.set(JAVA_INT, 8, device);
            key.set(JAVA_INT, 12, modified);
            return key;
        }
    }

    /**
     * Adds the rows of a file.
     *
     * @return whether there was room
     */
    synchronized boolean add(UnwoundFile file, CompactUnwindTable table) throws IOException {
        int total = table.rows();
        if (total == 0) {
            addEmpty(file);
            return true;
        }
        int first = usedPieces;
        int count = 0;
        for (int from = 0; from < total; count++) {
            if (usedRows == CHUNK_ROWS && !newChunk()
                    || count == MOST_PIECES
                    || usedPieces == MOST_PIECES_OF_ALL) {
                return false;
            }
            int some = Math.min(total - from, CHUNK_ROWS - usedRows);
            MemorySegment values = rows.getLast().segment();
            table.copy(from, some, values.asSlice(8L * usedRows, 8L * some));
            int[] piece = {table.offset(from), rows.size() - 1, usedRows, some};
            MemorySegment.copy(
                    piece,
                    0,
                    pieceValues.segment(),
                    JAVA_INT,
                    (long) PIECE_BYTES * usedPieces++,
                    piece.length);
            placed.add(piece);
            usedRows += some;
            from += some;
        }
        known.put(file, new Rows(first, count));
        restore(file);
        return true;
    }

    /** Tells the kernel where the rows of a file are that has been added. */
    synchronized void restore(UnwoundFile file) throws IOException {
        Rows rows = known.getOrDefault(file, NO_ROWS);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(8, 8);
            value.set(JAVA_INT, 0, rows.firstPiece());
            value.set(JAVA_INT, 4, rows.count());
            files.put(file.in(arena), value);
        }
    }

    /** A file whose rows were added has an interpreter of Python. */
    synchronized void addPython(UnwoundFile file, PythonLayout layout) throws IOException {
        Rows rows = known.get(file);
        if (rows != null) {
            runtimes.add(rows.firstPiece(), layout);
        }
    }

    /** Pieces of a file. */
    private record Rows(int firstPiece, int count) {}

    /** The rule at an offset in a file; {@link CompactRule#NONE} for files without a table. */
    synchronized int find(UnwoundFile file, long offset) {
        Rows pieces = known.get(file);
        if (pieces == null || offset >>> 32 != 0) {
            return CompactRule.NONE;
        }
        int at = pieces.firstPiece();
        int last = at + pieces.count() - 1;
        while (at < last && Integer.toUnsignedLong(placed.get(at + 1)[0]) <= offset) {
            at++;
        }
        int[] piece = placed.get(at);
        MemorySegment values = rows.get(piece[1]).segment();
        int low = 0;
        int high = piece[3] - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Integer.toUnsignedLong(values.get(JAVA_INT, 8L * (piece[2] + middle))) <= offset) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high < 0 ? CompactRule.NONE : values.get(JAVA_INT, 8L * (piece[2] + high) + 4);
    }

    /** Keeps that a file has no rows, so that it is not looked for at each hit. */
    void addEmpty(UnwoundFile file) throws IOException {
        restore(file);
    }

    /** Forgets a file that was reported and could not be read, so that it is reported again. */
    void forget(UnwoundFile file) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            files.delete(file.in(arena));
        }
    }

    private boolean newChunk() throws IOException {
        if (rows.size() == MOST_CHUNKS) {
            return false;
        }
        BpfMap chunk = made(chunkSpec());
        MappedValues values = MappedValues.of(chunk, true);
        parts.push(values);
        chunks.put(rows.size(), chunk.fd());
        rows.add(values);
        usedRows = 0;
        return true;
    }

    /** Bytes of kernel memory that the rows take. */
    long bytes() {
        return 8L * CHUNK_ROWS * rows.size();
    }

    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
