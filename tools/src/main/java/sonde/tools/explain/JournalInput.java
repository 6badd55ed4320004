package sonde.tools.explain;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Entries of {@code journalctl -o export} as lines of a log. Each line keeps its number: fields
 * become empty lines. Source: systemd's Journal Export Formats.
 */
final class JournalInput extends InputStream {
    private static final int MARK = 9;

    private static final String MESSAGE = "MESSAGE";

    /** The part of a field that is kept; the kernel's records are shorter. */
    private static final int MOST_FIELD = 1 << 14;

    private final InputStream in;
    private byte[] bytes = {};
    private int at;

    private JournalInput(InputStream in) {
        this.in = in;
    }

    /** The same input, or the lines of its entries if it begins as the export format does. */
    static InputStream of(InputStream in) throws IOException {
        BufferedInputStream buffered = new BufferedInputStream(in);
        buffered.mark(MARK);
        String first = new String(buffered.readNBytes(MARK), StandardCharsets.US_ASCII);
        buffered.reset();
        boolean isExport = first.startsWith("__CURSOR=") || first.startsWith("\n__CURSO");
        return isExport ? new JournalInput(buffered) : buffered;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        while (at == bytes.length) {
            byte[] next = entry();
            if (next == null) {
                return -1;
            }
            bytes = next;
            at = 0;
        }
        int count = Math.min(length, bytes.length - at);
        System.arraycopy(bytes, at, target, offset, count);
        at += count;
        return count;
    }

    /** The lines of one entry; null at the end. */
    private byte @Nullable [] entry() throws IOException {
        Map<String, String> fields = new HashMap<>();
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int lines = 0;
        int message = 0;
        int ends = readLine(line);
        while (ends > 0 && line.size() > 0) {
            String text = line.toString(StandardCharsets.UTF_8);
            int equals = text.indexOf('=');
            String name = equals < 0 ? text : text.substring(0, equals);
            message = name.equals(MESSAGE) ? lines : message;
            lines += ends;
            if (equals >= 0) {
                fields.putIfAbsent(name, text.substring(equals + 1));
            } else {
                line.reset();
                lines += readBytes(line);
                fields.putIfAbsent(name, line.toString(StandardCharsets.UTF_8));
            }
            ends = readLine(line);
        }
        if (ends == 0 && lines == 0) {
            return null;
        }
        String text = JournalEntry.line(fields);
        int own = text == null ? 0 : (int) text.lines().count();
        String shown =
                "\n".repeat(message)
                        + (text == null ? "" : text + "\n")
                        + "\n".repeat(Math.max(0, lines + ends - message - own));
        return shown.getBytes(StandardCharsets.UTF_8);
    }

    /** Reads to the end of the line; how many lines ended, 0 at the end of the input. */
    private int readLine(ByteArrayOutputStream line) throws IOException {
        line.reset();
        int one = in.read();
        int any = one;
        while (one >= 0 && one != '\n') {
            if (line.size() < MOST_FIELD) {
                line.write(one);
            }
            one = in.read();
        }
        return any < 0 ? 0 : 1;
    }

    /** A value of any bytes: eight of its length, then itself and the end of a line. */
    private int readBytes(ByteArrayOutputStream value) throws IOException {
        long length = 0;
        byte[] size = in.readNBytes(Long.BYTES);
        for (int i = size.length - 1; i >= 0; i--) {
            length = length << 8 | size[i] & 0xff;
        }
        int lines = 0;
        int one = 0;
        for (long i = 0; (i < length || length < 0) && one >= 0; i++) {
            one = in.read();
            lines += one == '\n' ? 1 : 0;
            if (one >= 0 && value.size() < MOST_FIELD) {
                value.write(one);
            }
        }
        return lines + (in.read() == '\n' ? 1 : 0);
    }
}
