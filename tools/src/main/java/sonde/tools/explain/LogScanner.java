package sonde.tools.explain;

import java.io.IOException;
import java.io.InputStream;

/** Cuts a log into lines; of a long one the first bytes stand for it. */
final class LogScanner {
    /** The kernel's longest record is 1 KiB; netconsole and journals add names. */
    static final int MOST_LINE = 1 << 14;

    private static final int READ_BYTES = 1 << 18;

    /** Takes lines; the bytes are valid during the call. */
    interface ScannedLines {
        /**
         * A line.
         *
         * @param marked whether a literal is in it
         */
        void line(byte[] bytes, int from, int to, boolean marked) throws IOException;

        /** All that was there is read, and the next read may wait. */
        void waits() throws IOException;
    }

    private final LiteralAutomaton automaton;

    LogScanner(LiteralAutomaton automaton) {
        this.automaton = automaton;
    }

    void scan(InputStream in, ScannedLines lines) throws IOException {
        byte[] bytes = new byte[MOST_LINE + READ_BYTES];
        int held = 0;
        boolean skips = false;
        int read = in.read(bytes, 0, READ_BYTES);
        while (read >= 0) {
            int to = held + read;
            int begin = to;
            while (begin > held && bytes[begin - 1] != '\n') {
                begin--;
            }
            if (begin == held) {
                begin = 0; // the line goes on
            } else {
                int from = 0;
                while (skips && bytes[from++] != '\n') {
                    continue;
                }
                automaton.scan(
                        bytes,
                        from,
                        begin,
                        (a, b, marked) -> lines.line(bytes, a, Math.min(b, a + MOST_LINE), marked));
                skips = false;
            }
            held = to - begin;
            if (held > MOST_LINE) {
                if (!skips) {
                    last(lines, bytes, begin, begin + MOST_LINE);
                }
                skips = true;
            }
            held = skips ? 0 : held;
            System.arraycopy(bytes, begin, bytes, 0, held);
            if (in.available() <= 0) {
                lines.waits();
            }
            read = in.read(bytes, held, READ_BYTES);
        }
        if (held > 0) {
            last(lines, bytes, 0, held);
        }
    }

    private void last(ScannedLines lines, byte[] bytes, int from, int to) throws IOException {
        lines.line(bytes, from, to, automaton.marks(bytes, from, to));
    }
}
