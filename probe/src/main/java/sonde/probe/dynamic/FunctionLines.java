package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.AddressRange;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.binary.dwarf.location.FunctionCopy;
import sonde.binary.dwarf.location.LineRows;
import sonde.binary.dwarf.location.SourceFunction;

/**
 * Lines of a function that probes can stand at. What was inlined into it counts as the line of the
 * call.
 */
public final class FunctionLines {
    private final ProbedObject.Written written;

    /** Addresses at which the code of a line begins, lowest first, of each copy. */
    private final Map<FunctionCopy, TreeMap<Integer, List<Long>>> byCopy = new HashMap<>();

    private final int next;

    private FunctionLines(ProbedObject.Written written, int next) {
        this.written = written;
        this.next = next;
    }

    /** The line of the next function of the file: code of inlined copies is mixed with others'. */
    private static int next(SourceFunction function) throws MalformedInputException {
        long file = function.declared().constant(DwarfAttribute.DECL_FILE, -1);
        long next = Integer.MAX_VALUE;
        if (function.line() == 0) {
            return Integer.MAX_VALUE;
        }
        for (DebugEntry other : function.unit().root().children()) {
            long line = other.constant(DwarfAttribute.DECL_LINE, 0);
            if (other.tag() == DwarfTag.SUBPROGRAM
                    && line > function.line()
                    && other.constant(DwarfAttribute.DECL_FILE, -1) == file) {
                next = Math.min(next, line);
            }
        }
        return (int) next;
    }

    private boolean isInside(int line) {
        return written.line() == 0 || line >= written.line() && line < next;
    }

    static FunctionLines of(ProbedObject subject, SourceFunction function) throws IOException {
        FunctionLines lines = new FunctionLines(subject.written(function), next(function));
        for (FunctionCopy copy : function.copies()) {
            LineRows rows = subject.lines(copy.entry().unit());
            lines.byCopy.put(copy, lines.read(copy, rows));
        }
        return lines;
    }

    /** The source file, absolute where that is known. */
    public String file() {
        return written.file();
    }

    /** The function's first line; 0 where it is not known. */
    public int first() {
        return written.line();
    }

    /** An inlined call in the function: its code, and where it is called. */
    private record InlinedCall(List<AddressRange> ranges, String file, int line) {}

    private TreeMap<Integer, List<Long>> read(FunctionCopy copy, LineRows rows)
            throws MalformedInputException {
        List<InlinedCall> calls = new ArrayList<>();
        calls(copy.entry(), rows, calls, 0);
        TreeMap<Integer, List<Long>> found = new TreeMap<>();
        boolean begun = false;
        for (int i = 0; i < rows.count(); i++) {
            begun &= rows.continues(i);
            long address = rows.address(i);
            boolean counts = !rows.isEnd(i) && rows.isStatement(i) && isInside(rows.line(i));
            if (counts
                    && AddressRange.anyContains(copy.ranges(), address)
                    && rows.file(i).equals(written.file())
                    && isOwn(calls, address, rows.line(i))) {
                List<Long> at = found.computeIfAbsent(rows.line(i), _ -> new ArrayList<>());
                if (!begun && !at.contains(address)) {
                    at.add(address);
                }
                begun = true;
            }
        }
        // A call that left no row of its own begins where its code begins.
        for (InlinedCall call : calls) {
            if (call.line() > 0
                    && call.file().equals(written.file())
                    && !found.containsKey(call.line())) {
                found.put(call.line(), new ArrayList<>(List.of(call.ranges().getFirst().start())));
            }
        }
        found.values().forEach(list -> sort(list, copy));
        return found;
    }

    /** Those in the part that has the entry first, then by address. */
    private static void sort(List<Long> addresses, FunctionCopy copy) {
        AddressRange main =
                copy.ranges().stream()
                        .filter(range -> range.contains(copy.entryAddress()))
                        .findFirst()
                        .orElse(copy.ranges().getFirst());
        addresses.sort((a, b) ->
                main.contains(a) == main.contains(b)
                        ? Long.compareUnsigned(a, b)
                        : main.contains(a) ? -1 : 1);
    }

    private static boolean isOwn(List<InlinedCall> calls, long address, int line) {
        for (InlinedCall call : calls) {
            if (AddressRange.anyContains(call.ranges(), address)) {
                return call.line() == line;
            }
        }
        return true;
    }

    /** The outermost inlined calls of a copy. */
    private void calls(DebugEntry in, LineRows rows, List<InlinedCall> calls, int depth)
            throws MalformedInputException {
        for (DebugEntry child : in.children()) {
            if (child.tag() == DwarfTag.INLINED_SUBROUTINE) {
                List<AddressRange> ranges = child.ranges();
                if (!ranges.isEmpty()) {
                    calls.add(
                            new InlinedCall(
                                    ranges,
                                    rows.fileName(child.constant(DwarfAttribute.CALL_FILE, -1)),
                                    (int) child.constant(DwarfAttribute.CALL_LINE, 0)));
                }
            } else if (depth < 64
                    && (child.tag() == DwarfTag.LEXICAL_BLOCK
                            || child.tag() == DwarfTag.TRY_BLOCK
                            || child.tag() == DwarfTag.CATCH_BLOCK)) {
                calls(child, rows, calls, depth + 1);
            }
        }
    }

    /** Lines of any copy. */
    public TreeSet<Integer> lines() {
        TreeSet<Integer> lines = new TreeSet<>();
        byCopy.values().forEach(map -> lines.addAll(map.keySet()));
        return lines;
    }

    /** Where a line is in a copy; the first is the one to use. */
    public List<Long> addresses(FunctionCopy copy, int line) {
        TreeMap<Integer, List<Long>> lines = byCopy.get(copy);
        return lines == null ? List.of() : lines.getOrDefault(line, List.of());
    }

    /** {@code "its code begins at +8 +20 too"}; empty when it begins at the first alone. */
    String more(FunctionCopy copy, int line) {
        StringBuilder words = new StringBuilder();
        for (long address : addresses(copy, line).stream().skip(1).toList()) {
            long offset = address - copy.entryAddress();
            words.append(offset < 0 ? " " : " +").append(offset);
        }
        return words.isEmpty() ? "" : "its code begins at" + words + " too: --every";
    }

    /** {@code "line 17 shares this address"} where other lines do; empty for none. */
    String othersAt(long address, int line) {
        TreeSet<Integer> others = new TreeSet<>();
        for (TreeMap<Integer, List<Long>> lines : byCopy.values()) {
            lines.forEach((other, addresses) -> {
                if (other != line && addresses.getFirst() == address) {
                    others.add(other - written.line());
                }
            });
        }
        if (others.isEmpty()) {
            return "";
        }
        String words = others.toString().replaceAll("[\\[\\]]", "");
        return (others.size() == 1 ? "line " : "lines ")
                + words
                + (others.size() == 1 ? " shares" : " share")
                + " this address";
    }
}
