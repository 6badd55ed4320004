package sonde.symbol;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.event.result.Frame;

/**
 * What the addresses mean that a recorder gave to frames of run times (functions of Python,
 * interpreted methods of Java): no mapping can have such addresses. A file of a bundle keeps them
 * as a perf map ({@link PerfMap}) whose names have parts: name, module, file, line; those of
 * inlined calls, innermost first, come before those of the function.
 */
public final class RuntimeFrames {
    /** Name of the file in a bundle. */
    public static final String FILE = "frames.map";

    /** Stands for all processes where a perf map is asked for. */
    public static final int ALL = -1;

    /** At most so many bytes of it are read. */
    public static final int LIMIT_BYTES = 256 << 20;

    /** Numbers of functions are below. */
    public static final int MOST = 1 << 18;

    /** Number of a function without a name. */
    public static final int UNKNOWN = 0;

    /** A place in a function has so many bits. */
    private static final int PLACE_BITS = 16;

    /** Above all user memory of x86-64 (57 bits of addresses at most, half of them the user's). */
    private static final long FIRST = 1L << 56;

    private static final int PARTS = 4;
    private static final int MOST_LETTERS = 2048;

    private final PerfMap map;
    private final Map<Long, KnownFrame> known = new HashMap<>();

    private RuntimeFrames(PerfMap map) {
        this.map = map;
    }

    /** Parses the file; lines that make no sense are left out. */
    public static RuntimeFrames parse(byte[] text) {
        return new RuntimeFrames(PerfMap.parse(text));
    }

    /**
     * The address of a frame in a call chain; the one before it means the same frame. Those of a
     * function lie together.
     *
     * @param number of the function
     * @param place in it, 16 bits
     */
    public static long address(int number, int place) {
        return FIRST + 2 * ((long) number << PLACE_BITS | place) + 1;
    }

    /** Whether an address stands for a frame. */
    public static boolean has(long address) {
        return address >= FIRST && address <= address(MOST, 0);
    }

    /** How far the address of a frame lies behind that of the first one; even. */
    static long offset(long address) {
        return address - FIRST & -2;
    }

    /**
     * Adds the line of a frame; frames without a name have none.
     *
     * @param address of {@link #address}
     * @param firstLine of the function; 0 when it is not known
     */
    public static void append(StringBuilder text, long address, List<Frame> frames, int firstLine) {
        text.append(Long.toHexString(address - 1)).append(" 2");
        char before = ' ';
        for (Frame frame : frames) {
            String name = frame.name().isEmpty() ? "?" : frame.name();
            text.append(before).append(printable(name)).append('\t');
            text.append(printable(frame.module())).append('\t').append(printable(frame.file()));
            text.append('\t').append(frame.line());
            before = '\t';
        }
        text.append(':').append(firstLine).append('\n');
    }

    /** Without what controls a terminal, and not long. */
    static String printable(String text) {
        String some = text.substring(0, Math.min(text.length(), MOST_LETTERS));
        return some.replaceAll("\\p{Cntrl}", "?");
    }

    /** The frames of an address, innermost first; one at least. */
    List<Frame> of(long address) {
        return read(address).frames();
    }

    /** The function of an address, at its first line where that is known. */
    Frame function(long address) {
        return read(address).function();
    }

    private record KnownFrame(List<Frame> frames, Frame function) {}

    private KnownFrame read(long address) {
        return known.computeIfAbsent(offset(address), offset -> parse(FIRST + offset));
    }

    private KnownFrame parse(long address) {
        int line = map.find(address);
        String[] parts = line < 0 ? new String[0] : map.name(line).split("\t", -1);
        List<Frame> frames = new ArrayList<>();
        Frame function = new Frame("[run time]", "[jit]", Frame.Kind.JIT);
        for (int i = 0; i + PARTS <= parts.length; i += PARTS) {
            String[] lines = parts[i + 3].split(":", 2);
            boolean inlined = i + PARTS < parts.length;
            frames.add(
                    new Frame(
                            parts[i],
                            parts[i + 1],
                            Frame.Kind.JIT,
                            inlined,
                            parts[i + 2],
                            number(lines[0])));
            function = new Frame(parts[i], parts[i + 1], Frame.Kind.JIT);
            int first = lines.length < 2 ? 0 : number(lines[1]);
            function = first == 0 ? function : function.at(parts[i + 2], first);
        }
        return new KnownFrame(frames.isEmpty() ? List.of(function) : frames, function);
    }

    private static int number(String digits) {
        return digits.matches("\\d{1,9}") ? Integer.parseInt(digits) : 0;
    }
}
