package sonde.symbol.line;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.code.CodeReader;
import sonde.binary.dwarf.code.DwarfCode;
import sonde.binary.dwarf.code.UnitCode;

/** Makes the tables of a whole file; all processors read units. */
final class LineTableBuilder {
    /** Beyond, the tables would not fit into memory beside everything else. */
    private static final long MOST_WORDS = 200L << 20;

    private final DwarfCode code;
    private final long base;
    private final TextPool texts = new TextPool();
    private final @Nullable UnitPart[] parts;
    private final AtomicInteger next = new AtomicInteger();

    private LineTableBuilder(DwarfCode code, long base) {
        this.code = code;
        this.base = base;
        parts = new UnitPart[code.unitCount()];
    }

    /** The tables; null when they would be too large. */
    static @Nullable LineTables build(
            DwarfCode code, CodeReader first, int threads, long base, long fingerprint)
            throws MalformedInputException {
        LineTableBuilder builder = new LineTableBuilder(code, base);
        code.statedUnit(0);
        code.unitOf(0);
        ParallelWork.run(threads, own -> builder.drain(own ? first : code.reader()));
        byte[] image = builder.image(fingerprint);
        return image.length == 0 ? null : LineTables.of(ByteBuffer.wrap(image), fingerprint);
    }

    private void drain(CodeReader reader) {
        // Some at a time: most units of what dwz has made have no code.
        int many = 16;
        for (int from = next.getAndAdd(many); from < parts.length; from = next.getAndAdd(many)) {
            int to = Math.min(parts.length, from + many);
            for (int i = from; i < to; i++) {
                UnitCode unit = code.mayHaveCode(i) ? read(reader, i) : null;
                parts[i] = unit == null ? null : part(i, unit);
            }
        }
    }

    /** As {@link BatchLookup}: thoroughly where the quick way leaves code without a function. */
    private static @Nullable UnitCode read(CodeReader reader, int index) {
        UnitCode unit = reader.read(index, null, false);
        boolean lacks = unit != null && unit.hasLinesOutsideFunctions();
        return lacks ? reader.read(index, null, true) : unit;
    }

    private @Nullable UnitPart part(int index, UnitCode unit) {
        try {
            return UnitPart.of(unit, base, texts, a -> held(index, a));
        } catch (MalformedInputException e) {
            // Its names or files lie outside of their sections.
            return null;
        }
    }

    /** As without tables: lines count where a unit states the address, or states none at all. */
    private boolean held(int unit, long address) {
        return code.statedUnit(address) >= 0
                || code.unitOf(address) >= 0
                || code.isWithoutRanges(unit);
    }

    /** A run of a unit: from and to are indexes of its starts, end that of the gap behind. */
    private record UnitRun(int start, int end, int unit, int from, int to) {}

    private List<UnitRun> runs(boolean ofRows) {
        List<UnitRun> runs = new ArrayList<>();
        for (int unit = 0; unit < parts.length; unit++) {
            UnitPart part = parts[unit];
            if (part == null) {
                continue;
            }
            int[] starts = ofRows ? part.rowStarts() : part.starts();
            int from = 0;
            for (int i = 0; i < starts.length; i++) {
                int kind = ofRows ? part.rows()[LineTables.ROW_WORDS * i] : part.owners()[i];
                if (kind == LineTables.NONE) {
                    if (i > from) {
                        runs.add(new UnitRun(starts[from], starts[i], unit, from, i));
                    }
                    from = i + 1;
                }
            }
        }
        runs.sort((a, b) -> Integer.compareUnsigned(a.start, b.start));
        return runs;
    }

    private byte[] image(long fingerprint) {
        List<UnitRun> runs = runs(false);
        List<UnitRun> rowRuns = runs(true);
        long nodes = 0;
        int[] firstNode = new int[parts.length];
        for (int i = 0; i < parts.length; i++) {
            firstNode[i] = (int) nodes;
            UnitPart part = parts[i];
            nodes += part == null ? 0 : part.nodes().length / LineTables.NODE_WORDS;
        }
        long most = 2L * (runs.size() + rowRuns.size());
        for (UnitPart part : parts) {
            most += part == null ? 0 : part.nodes().length + part.starts().length;
            most += part == null ? 0 : part.rowStarts().length * 4L;
        }
        if (most > MOST_WORDS) {
            return new byte[0];
        }
        Merged functions = new Merged(runs, false, firstNode);
        Merged rows = new Merged(rowRuns, true, firstNode);
        byte[] strings = texts.bytes();
        long size =
                LineTables.HEAD_BYTES
                        + 8L * functions.count
                        + 4L * LineTables.NODE_WORDS * nodes
                        + 4L * (1 + LineTables.ROW_WORDS) * rows.count
                        + strings.length;
        if (size > Integer.MAX_VALUE - 64) {
            return new byte[0];
        }
        byte[] image = new byte[(int) size];
        ByteBuffer out = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(0, LineTables.MAGIC);
        out.putInt(16, functions.count);
        out.putInt(20, (int) nodes);
        out.putInt(24, rows.count);
        out.putInt(28, strings.length);
        out.putLong(32, base);
        out.putLong(40, fingerprint);
        int at = LineTables.HEAD_BYTES;
        at = put(out, at, functions.starts, functions.count);
        at = put(out, at, functions.words, functions.count);
        for (int i = 0; i < parts.length; i++) {
            UnitPart part = parts[i];
            if (part != null) {
                at = put(out, at, parented(part.nodes(), firstNode[i]), part.nodes().length);
            }
        }
        at = put(out, at, rows.starts, rows.count);
        at = put(out, at, rows.words, LineTables.ROW_WORDS * rows.count);
        System.arraycopy(strings, 0, image, at, strings.length);
        out.putLong(8, LineTables.checksum(out));
        return image;
    }

    private static int[] parented(int[] nodes, int first) {
        for (int i = 0; i < nodes.length; i += LineTables.NODE_WORDS) {
            nodes[i] = nodes[i] < 0 ? LineTables.NONE : nodes[i] + first;
        }
        return nodes;
    }

    private static int put(ByteBuffer out, int at, int[] words, int count) {
        int size = 4 * count;
        out.slice(at, size).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(words, 0, count);
        return at + size;
    }

    /** Runs of all units behind each other; where two lie over each other the first one counts. */
    private final class Merged {
        private final int width;
        private int[] starts;
        private int[] words;
        private int count;

        Merged(List<UnitRun> runs, boolean ofRows, int[] firstNode) {
            width = ofRows ? LineTables.ROW_WORDS : 1;
            int most = runs.size();
            for (UnitRun run : runs) {
                most += run.to - run.from;
            }
            starts = new int[most];
            words = new int[width * most];
            int covered = 0;
            for (int r = 0; r < runs.size(); r++) {
                UnitRun run = runs.get(r);
                if (Integer.compareUnsigned(run.end, covered) <= 0) {
                    continue;
                }
                UnitPart part = parts[run.unit];
                if (part != null) {
                    add(run, part, ofRows, firstNode[run.unit], covered);
                }
                covered = run.end;
                boolean follows = r + 1 < runs.size() && runs.get(r + 1).start == covered;
                if (!follows) {
                    gap(covered);
                }
            }
        }

        private void add(UnitRun run, UnitPart part, boolean ofRows, int firstNode, int covered) {
            int[] from = ofRows ? part.rowStarts() : part.starts();
            for (int i = run.from; i < run.to; i++) {
                boolean last = i + 1 == run.to;
                int end = last ? run.end : from[i + 1];
                if (Integer.compareUnsigned(end, covered) <= 0) {
                    continue;
                }
                boolean cut = Integer.compareUnsigned(from[i], covered) < 0;
                starts[count] = cut ? covered : from[i];
                if (ofRows) {
                    System.arraycopy(part.rows(), width * i, words, width * count, width);
                } else {
                    words[count] = part.owners()[i] + firstNode;
                }
                count++;
            }
        }

        private void gap(int start) {
            if (count == starts.length) {
                starts = Arrays.copyOf(starts, count + 16);
                words = Arrays.copyOf(words, width * (count + 16));
            }
            starts[count] = start;
            words[width * count] = LineTables.NONE;
            count++;
        }
    }
}
