package sonde.recording.text;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import sonde.binary.MalformedInputException;

/**
 * Where the text of ftrace lies in what Android's systrace writes: a script element of class {@code
 * trace-data}, in older pages the string {@code linuxPerfData}; behind {@code TRACE:} in the output
 * of atrace, deflated (RFC 1950) with -z.
 */
final class Systrace {
    private static final int WINDOW = 1 << 16;
    private static final long MOST_BYTES = 1L << 30;
    private static final byte[] HTML = KeyValueTokens.bytes("<html");
    private static final byte[] DOCTYPE = KeyValueTokens.bytes("<!DOCTYPE");
    private static final byte[] DATA = KeyValueTokens.bytes("class=\"trace-data\"");
    private static final byte[] OLD = KeyValueTokens.bytes("linuxPerfData = \"");
    private static final byte[] SCRIPT_END = KeyValueTokens.bytes("</script>");
    private static final byte[] TRACE = KeyValueTokens.bytes("TRACE:\n");
    private static final String[] MARKS = {
        "trace-data", "linuxPerfData", "Android System Trace", "tr-ui-", "trace-viewer"
    };

    private Systrace() {}

    /** Whether a file is one, by its beginning. */
    static boolean is(MemorySegment file) {
        byte[] head = bytes(file, 0, WINDOW);
        if (isDeflated(head)) {
            return true;
        }
        int most = Math.min(head.length, 1024);
        boolean html =
                LineScan.find(head, 0, most, HTML) >= 0
                        || LineScan.find(head, 0, most, DOCTYPE) >= 0;
        if (!html) {
            return false;
        }
        for (String mark : MARKS) {
            if (LineScan.find(head, 0, head.length, KeyValueTokens.bytes(mark)) >= 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean isDeflated(byte[] head) {
        int trace = LineScan.find(head, 0, Math.min(head.length, 256), TRACE);
        int at = trace + TRACE.length;
        // RFC 1950 §2.2: method 8 with a window of 32 KiB, the two bytes a multiple of 31
        return trace >= 0
                && at + 1 < head.length
                && head[at] == 0x78
                && ((head[at] & 0xff) * 256 + (head[at + 1] & 0xff)) % 31 == 0;
    }

    private static byte[] bytes(MemorySegment file, long at, long most) {
        int count = (int) Math.min(most, file.byteSize() - at);
        byte[] copy = new byte[count];
        MemorySegment.copy(file, ValueLayout.JAVA_BYTE, at, copy, 0, count);
        return copy;
    }

    /** The text. */
    static MemorySegment content(MemorySegment file) throws MalformedInputException {
        byte[] head = bytes(file, 0, 256 + TRACE.length);
        if (isDeflated(head)) {
            int trace = LineScan.find(head, 0, head.length, TRACE);
            return MemorySegment.ofArray(inflate(file, (long) trace + TRACE.length));
        }
        long at = find(file, 0, DATA);
        while (at >= 0) {
            long open = find(file, at, new byte[] {'>'}) + 1;
            long end = open > 0 ? find(file, open, SCRIPT_END) : -1;
            MemorySegment part = part(file, open, end);
            if (open > 0 && TextRecogniser.of(part) == TextFormat.FTRACE) {
                return part;
            }
            at = open > 0 ? find(file, open, DATA) : -1;
        }
        long old = find(file, 0, OLD);
        if (old >= 0) {
            long open = find(file, old, new byte[] {'\n'}) + 1;
            return part(file, open, find(file, open, SCRIPT_END));
        }
        throw new MalformedInputException("systrace", "trace-data", 0, "no text of ftrace");
    }

    private static MemorySegment part(MemorySegment file, long from, long to) {
        long end = to < 0 ? file.byteSize() : to;
        return file.asSlice(from, Math.max(0, end - from));
    }

    private static long find(MemorySegment file, long from, byte[] word) {
        int chunk = 1 << 20;
        for (long at = from; at < file.byteSize(); at += chunk) {
            byte[] bytes = bytes(file, at, chunk + word.length - 1L);
            int found = LineScan.find(bytes, 0, bytes.length, word);
            if (found >= 0) {
                return at + found;
            }
        }
        return -1;
    }

    private static byte[] inflate(MemorySegment file, long at) throws MalformedInputException {
        Inflater inflater = new Inflater();
        try {
            byte[] out = new byte[1 << 20];
            int size = 0;
            long next = at;
            while (!inflater.finished()) {
                if (inflater.needsInput()) {
                    if (next >= file.byteSize()) {
                        break; // cut short: what there is counts
                    }
                    byte[] in = bytes(file, next, 1 << 16);
                    inflater.setInput(in);
                    next += in.length;
                }
                if (size == out.length) {
                    if (2L * size > MOST_BYTES) {
                        break;
                    }
                    out = Arrays.copyOf(out, 2 * size);
                }
                int count = inflater.inflate(out, size, out.length - size);
                size += count;
                if (count == 0 && inflater.needsDictionary()) {
                    break;
                }
            }
            return Arrays.copyOf(out, size);
        } catch (DataFormatException e) {
            throw new MalformedInputException(
                    "systrace", "zlib", at, String.valueOf(e.getMessage()));
        } finally {
            inflater.end();
        }
    }
}
