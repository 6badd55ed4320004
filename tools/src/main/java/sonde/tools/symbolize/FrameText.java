package sonde.tools.symbolize;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.RowOutput;
import sonde.recording.JsonString;
import sonde.symbol.demangle.Demangler;
import sonde.symbol.line.SourceFrame;
import sonde.tools.symbolize.SourceTree.SourceLine;
import sonde.view.TextEscape;

/** Writes frames as addr2line does, or as JSON. */
public final class FrameText {
    /** Names and files that are kept as they are written. */
    private static final int MOST_KEPT = 1 << 16;

    /** Characters that are gathered before they are written. */
    private static final int GATHERED = 1 << 15;

    /** Lines that faddr2line shows before and behind a place. */
    private static final int AROUND = 5;

    /**
     * The options of addr2line by their letters: a, f, i, p, s, C; and columns.
     *
     * @param source shows the lines around each place, as faddr2line --list does; null for none
     */
    public record FrameOptions(
            boolean addresses,
            boolean functions,
            boolean inlines,
            boolean pretty,
            boolean basenames,
            boolean demangle,
            boolean columns,
            @Nullable SourceTree source) {}

    private final OutputStream out;
    private final boolean json;
    private final FrameOptions look;
    private final boolean wide;
    private final StringBuilder line = new StringBuilder();
    private final Map<String, String> shownFunctions = new HashMap<>();
    private final Map<String, String> shownFiles = new HashMap<>();

    /**
     * @param wide whether addresses have 64 bits
     */
    FrameText(OutputStream out, ListingForm form, FrameOptions look, boolean wide) {
        this.out = out;
        json = form == ListingForm.JSON_LINES;
        this.look = look;
        this.wide = wide;
    }

    /** What is at one address. */
    void frames(long address, List<SourceFrame> frames) throws IOException {
        if (json) {
            json(address, frames);
        } else {
            lines(address, frames);
        }
        if (line.length() > GATHERED) {
            write();
        }
    }

    private void lines(long address, List<SourceFrame> frames) throws IOException {
        if (look.addresses) {
            address(address);
            line.append(look.pretty ? ": " : "\n");
        }
        if (frames.getFirst().isUnknown()) {
            unknown();
        } else {
            frames(frames);
        }
    }

    /** The answer to a word that is not an address. */
    void noAddress(String word) {
        if (json) {
            line.append("{\"input\":");
            text(word);
            line.append(",\"address\":null,\"frames\":[]}\n");
            return;
        }
        if (look.addresses) {
            line.append(TextEscape.line(word)).append(look.pretty ? ": " : "\n");
        }
        unknown();
    }

    private void unknown() {
        line.append(look.functions ? look.pretty ? "?? " : "??\n" : "").append("??:0\n");
    }

    private void address(long address) {
        long digits = wide ? address : address & 0xffff_ffffL;
        line.append("0x");
        for (int shift = wide ? 60 : 28; shift >= 0; shift -= 4) {
            int digit = (int) (digits >>> shift) & 15;
            line.append((char) (digit < 10 ? '0' + digit : 'a' - 10 + digit));
        }
    }

    private void frames(List<SourceFrame> frames) throws IOException {
        int count = look.inlines ? frames.size() : 1;
        for (int i = 0; i < count; i++) {
            SourceFrame frame = frames.get(i);
            if (i > 0 && look.pretty) {
                line.append(" (inlined by) ");
            }
            if (look.functions) {
                line.append(function(frame)).append(look.pretty ? " at " : "\n");
            }
            place(frame);
            line.append('\n');
            source(frame);
        }
    }

    private void source(SourceFrame frame) throws IOException {
        if (look.source == null) {
            return;
        }
        for (SourceLine one : look.source.around(frame.file(), frame.line(), AROUND)) {
            boolean isIt = one.number() == frame.line();
            line.append(isIt ? '>' : ' ').append(one.number()).append(isIt ? '<' : ' ');
            line.append('\t');
            line.append(TextEscape.line(one.text().replace("\t", "        "))).append('\n');
        }
    }

    private String function(SourceFrame frame) {
        String name = frame.function();
        if (name.isEmpty()) {
            return "??";
        }
        String known = shownFunctions.get(name);
        if (known == null) {
            known = TextEscape.line(look.demangle ? Demangler.demangle(name) : name);
            keep(shownFunctions, name, known);
        }
        return known;
    }

    private String file(SourceFrame frame) {
        String known = shownFiles.get(frame.file());
        if (known == null) {
            known = TextEscape.line(frame.file());
            known = look.basenames ? known.substring(known.lastIndexOf('/') + 1) : known;
            keep(shownFiles, frame.file(), known);
        }
        return known;
    }

    private static void keep(Map<String, String> shown, String text, String written) {
        if (shown.size() > MOST_KEPT) {
            shown.clear();
        }
        shown.put(text, written);
    }

    private void place(SourceFrame frame) {
        line.append(frame.hasPlace() ? file(frame) : "??");
        if (frame.line() == 0) {
            line.append(":?");
            return;
        }
        line.append(':').append(frame.line());
        if (look.columns && frame.column() > 0) {
            line.append(':').append(frame.column());
        }
    }

    private void write() throws IOException {
        byte[] bytes = line.toString().getBytes(StandardCharsets.UTF_8);
        // All text was escaped: what is ASCII needs no second look.
        if (bytes.length == line.length() && out instanceof RowOutput rows) {
            rows.writePlain(bytes, 0, bytes.length);
        } else {
            out.write(bytes);
        }
        line.setLength(0);
    }

    /** {@code {"address":"0x…","frames":[{"function":…,"file":…,"line":…,"inlined":…}]}}. */
    private void json(long address, List<SourceFrame> frames) {
        line.append("{\"address\":\"0x").append(Long.toHexString(address));
        line.append("\",\"frames\":[");
        boolean first = true;
        for (SourceFrame frame : frames) {
            if (frame.isUnknown()) {
                break;
            }
            line.append(first ? "{" : ",{");
            first = false;
            line.append("\"function\":");
            text(
                    look.demangle
                            ? shownFunctions.computeIfAbsent(frame.function(), Demangler::demangle)
                            : frame.function());
            line.append(",\"file\":");
            text(frame.file());
            number(",\"line\":", frame.line());
            number(",\"column\":", frame.column());
            line.append(",\"inlined\":").append(frame.inlined()).append('}');
        }
        line.append("]}\n");
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

    void flush() throws IOException {
        write();
        out.flush();
    }
}
