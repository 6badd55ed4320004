package sonde.cli;

import java.io.PrintWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.format.JsonString;
import sonde.symbol.demangle.Demangler;
import sonde.symbol.line.SourceFrame;
import sonde.view.Escape;

/** Writes frames as addr2line does, or as JSON. */
final class FrameText {
    /** Names that are kept demangled. */
    private static final int MOST_KEPT = 1 << 16;

    /** The options of addr2line by their letters: a, f, i, p, s, C; and columns. */
    record Look(
            boolean addresses,
            boolean functions,
            boolean inlines,
            boolean pretty,
            boolean basenames,
            boolean demangle,
            boolean columns) {}

    private final PrintWriter out;
    private final Look look;
    private final boolean wide;
    private final StringBuilder line = new StringBuilder();
    private final Map<String, String> demangled = new HashMap<>();

    /**
     * @param wide whether addresses have 64 bits
     */
    FrameText(PrintWriter out, Look look, boolean wide) {
        this.out = out;
        this.look = look;
        this.wide = wide;
    }

    /** The lines for one address. */
    void lines(long address, List<SourceFrame> frames) {
        line.setLength(0);
        String separator = look.pretty ? " at " : "\n";
        if (look.addresses) {
            String digits = Long.toHexString(wide ? address : address & 0xffff_ffffL);
            line.append("0x").repeat('0', (wide ? 16 : 8) - digits.length()).append(digits);
            line.append(look.pretty ? ": " : "\n");
        }
        if (frames.getFirst().equals(SourceFrame.UNKNOWN)) {
            line.append(look.functions ? look.pretty ? "?? " : "??\n" : "").append("??:0\n");
            out.append(line);
            return;
        }
        int count = look.inlines ? frames.size() : 1;
        for (int i = 0; i < count; i++) {
            SourceFrame frame = frames.get(i);
            line.append(i > 0 && look.pretty ? " (inlined by) " : "");
            if (look.functions) {
                line.append(function(frame)).append(separator);
            }
            place(frame);
            line.append('\n');
        }
        out.append(line);
    }

    private String function(SourceFrame frame) {
        String name = frame.function();
        if (name.isEmpty()) {
            return "??";
        }
        return Escape.line(look.demangle ? demangled(name) : name);
    }

    private String demangled(String name) {
        if (demangled.size() > MOST_KEPT) {
            demangled.clear();
        }
        return demangled.computeIfAbsent(name, Demangler::demangle);
    }

    private void place(SourceFrame frame) {
        String file = frame.hasPlace() ? Escape.line(frame.file()) : "??";
        line.append(look.basenames ? file.substring(file.lastIndexOf('/') + 1) : file);
        if (frame.line() == 0) {
            line.append(":?");
            return;
        }
        line.append(':').append(frame.line());
        if (look.columns && frame.column() > 0) {
            line.append(':').append(frame.column());
        }
    }

    /** {@code {"address":"0x…","frames":[{"function":…,"file":…,"line":…,"inlined":…}]}}. */
    void json(long address, List<SourceFrame> frames) {
        line.setLength(0);
        line.append("{\"address\":\"0x").append(Long.toHexString(address));
        line.append("\",\"frames\":[");
        boolean first = true;
        for (SourceFrame frame : frames) {
            if (frame.equals(SourceFrame.UNKNOWN)) {
                break;
            }
            line.append(first ? "{" : ",{");
            first = false;
            line.append("\"function\":");
            text(look.demangle ? demangled(frame.function()) : frame.function());
            line.append(",\"file\":");
            text(frame.file());
            number(",\"line\":", frame.line());
            number(",\"column\":", frame.column());
            line.append(",\"inlined\":").append(frame.inlined()).append('}');
        }
        out.append(line.append("]}\n"));
    }

    private void text(String value) {
        if (value.isEmpty()) {
            line.append("null");
        } else {
            JsonString.append(line, value);
        }
    }

    private void number(String key, int value) {
        line.append(key);
        if (value == 0) {
            line.append("null");
        } else {
            line.append(value);
        }
    }

    void flush() {
        out.flush();
    }
}
