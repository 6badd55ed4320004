package sonde.recording.ftrace;

import sonde.event.Batch;

/** Internet addresses as the kernel's {@code %pI} prints them. */
final class IpText {
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;

    private IpText() {}

    /** {@code %pI4}; with leading zeros {@code %pi4}. */
    static void v4(TextBuffer out, Batch batch, int row, int offset, boolean zeros) {
        for (int i = 0; i < 4; i++) {
            if (i > 0) {
                out.put('.');
            }
            out.digits(batch.u8(row, offset + i), zeros ? 3 : 1);
        }
    }

    /** {@code %pI6}, {@code %pI6c} (RFC 5952), {@code %pi6} (no colons). */
    static void v6(
            TextBuffer out, Batch batch, int row, int offset, boolean compressed, boolean bare) {
        if (compressed) {
            compressed(out, batch, row, offset);
            return;
        }
        for (int i = 0; i < 16; i++) {
            if (i > 0 && i % 2 == 0 && !bare) {
                out.put(':');
            }
            out.hex(batch.u8(row, offset + i), 2);
        }
    }

    private static void compressed(TextBuffer out, Batch batch, int row, int offset) {
        int[] words = new int[8];
        for (int i = 0; i < 8; i++) {
            words[i] = batch.u8(row, offset + 2 * i) << 8 | batch.u8(row, offset + 2 * i + 1);
        }
        boolean mapped = words[5] == 0xffff;
        for (int i = 0; i < 5; i++) {
            mapped &= words[i] == 0;
        }
        int count = mapped ? 6 : 8;
        int gap = -1;
        int gapLength = 1;
        for (int i = 0; i < count; i++) {
            int length = 0;
            while (i + length < count && words[i + length] == 0) {
                length++;
            }
            if (length > gapLength) {
                gap = i;
                gapLength = length;
            }
        }
        boolean colon = false;
        for (int i = 0; i < count; i++) {
            if (i == gap) {
                out.put(':').put(':');
                colon = false;
                i += gapLength - 1;
                continue;
            }
            if (colon) {
                out.put(':');
            }
            out.hex(words[i], 1);
            colon = true;
        }
        if (mapped) {
            out.put(':');
            v4(out, batch, row, offset + 12, false);
        }
    }

    /** {@code %pIS}: a struct sockaddr of either family. */
    static void socket(
            TextBuffer out,
            Batch batch,
            int row,
            int offset,
            int there,
            boolean port,
            boolean compressed) {
        int family = there >= 2 ? batch.u16(row, offset) : -1;
        if (family == AF_INET && there >= 8) {
            v4(out, batch, row, offset + 4, false);
        } else if (family == AF_INET6 && there >= 24) {
            if (port) {
                out.put('[');
            }
            v6(out, batch, row, offset + 8, compressed, false);
            if (port) {
                out.put(']');
            }
        } else {
            out.put("[family ").decimal(family).put(']');
            return;
        }
        if (port) {
            // sin_port and sin6_port are in network order.
            int value = batch.u8(row, offset + 2) << 8 | batch.u8(row, offset + 3);
            out.put(':').decimal(value);
        }
    }
}
