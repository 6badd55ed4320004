package sonde.view;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.RowOutput;

/**
 * Writes the rows of a listing: as text with every byte made harmless that a terminal could obey,
 * or as lines of JSON. Such rows need no other renderer, which keeps the start of a script short.
 */
public final class ListingRenderer {
    private ListingRenderer() {}

    /** Writes all rows and flushes; {@code out} stays open. */
    public static void render(Listing listing, ListingForm form, OutputStream out)
            throws IOException {
        if (form == ListingForm.JSON_LINES) {
            listing.rows().writeTo(out, form);
        } else {
            SafeOutput safe = new SafeOutput(new StaysOpen(out));
            listing.rows().writeTo(safe, form);
            safe.flush();
        }
        out.flush();
    }

    /**
     * Lets lines of UTF-8 through and turns every other byte that a terminal could obey into {@code
     * \xNN}: C0 controls but tab and line feed, DEL, C1 controls in both their forms, and bytes
     * that are no UTF-8 (Unicode 16, table 3-7). For rows that are made elsewhere.
     */
    static final class SafeOutput extends RowOutput {
        private static final VarHandle EIGHT =
                MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
        private static final long ONES = 0x0101010101010101L;
        private static final long HIGH_BITS = 0x8080808080808080L;

        private final OutputStream out;
        private final byte[] pending = new byte[4];
        private int have;
        private int want;

        SafeOutput(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void writePlain(byte[] bytes, int offset, int length) throws IOException {
            spill();
            out.write(bytes, offset, length);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            int end = offset + length;
            int clean = offset;
            for (int i = offset; i < end; i++) {
                while (have == 0 && end - i > 8 && isPlain((long) EIGHT.get(bytes, i))) {
                    i += 8;
                }
                byte b = bytes[i];
                if (have == 0 && (b >= 0x20 && b != 0x7f || b == '\n' || b == '\t')) {
                    continue;
                }
                out.write(bytes, clean, i - clean);
                clean = i + 1;
                take(b);
            }
            out.write(bytes, clean, end - clean);
        }

        /** Whether eight bytes are all from 0x20 to 0x7e, or line feeds. */
        private static boolean isPlain(long bytes) {
            long low = bytes & ~HIGH_BITS;
            // The high bit of each byte: not below 0x20; is 0x7f; is not a line feed.
            long printable = low + 0x60 * ONES;
            long del = low + ONES;
            long other = (low ^ '\n' * ONES) + 0x7f * ONES;
            return ((bytes | (~printable | del) & other) & HIGH_BITS) == 0;
        }

        private void take(byte b) throws IOException {
            if (have > 0) {
                if (continues(b)) {
                    pending[have++] = b;
                    if (have == want) {
                        finish();
                    }
                    return;
                }
                spill();
            }
            int u = b & 0xff;
            want =
                    u >= 0xc2 && u <= 0xdf
                            ? 2
                            : u >= 0xe0 && u <= 0xef ? 3 : u >= 0xf0 && u <= 0xf4 ? 4 : 0;
            if (want > 0) {
                pending[have++] = b;
            } else if (u >= 0x20 && u < 0x7f || u == '\n' || u == '\t') {
                out.write(u);
            } else {
                hex(u);
            }
        }

        /**
         * Whether a byte may follow those pending; the second byte's range depends on the first.
         */
        private boolean continues(byte b) {
            int u = b & 0xff;
            int low = 0x80;
            int high = 0xbf;
            if (have == 1) {
                switch (pending[0] & 0xff) {
                    case 0xe0 -> low = 0xa0;
                    case 0xed -> high = 0x9f;
                    case 0xf0 -> low = 0x90;
                    case 0xf4 -> high = 0x8f;
                    default -> {}
                }
            }
            return u >= low && u <= high;
        }

        private void finish() throws IOException {
            String text = new String(pending, 0, have, StandardCharsets.UTF_8);
            have = 0;
            out.write(TextEscape.line(text).getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void close() throws IOException {
            flush();
            out.close();
        }

        private void spill() throws IOException {
            for (int i = 0; i < have; i++) {
                hex(pending[i] & 0xff);
            }
            have = 0;
        }

        private void hex(int value) throws IOException {
            StringBuilder text = new StringBuilder("\\x");
            TextEscape.hex(text, value, 2);
            out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
        }

        @Override
        public void flush() throws IOException {
            spill();
            out.flush();
        }
    }
}
