package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import sonde.event.Batch;
import sonde.recording.ftrace.PrintExpression.NumberExpression;
import sonde.recording.ftrace.PrintExpression.PayloadArray;
import sonde.sys.Errno;

/**
 * The letters behind {@code %p}: Documentation/core-api/printk-formats.rst.
 *
 * @param letters what follows the p: "S", "M", "I4", "ISpc"
 */
record PointerText(String letters, PrintExpression argument, TextContext context) {
    private static final long MAX_ERRNO = 4095;

    /** Letters that belong to the conversion at the start of {@code rest}. */
    static int lettersLength(String rest) {
        if (rest.isEmpty()) {
            return 0;
        }
        return switch (rest.charAt(0)) {
            case 'S', 's', 'B' -> 1 + run(rest, 1, "Rb");
            case 'F', 'f', 'x', 'K', 'e', 'D', 'd' -> 1;
            case 'M', 'm' -> 1 + run(rest, 1, "RF");
            case 'I', 'i' -> {
                int kind = 1 + run(rest, 1, "46S");
                yield kind == 1 ? 0 : kind + run(rest, kind, "pfschnbl");
            }
            case 'U' -> 1 + run(rest, 1, "bBlL");
            case 'h' -> 1 + run(rest, 1, "CDN");
            case 'a' -> 1 + run(rest, 1, "dp");
            case 'b' -> 1 + run(rest, 1, "l");
            case '4' -> rest.startsWith("4cc") ? 3 + run(rest, 3, "hnbl") : 0;
            default -> 0;
        };
    }

    private static int run(String text, int from, String of) {
        int at = from;
        while (at < text.length() && of.indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at - from;
    }

    void append(TextBuffer out, Batch batch, int row, int width) {
        char first = letters.isEmpty() ? ' ' : letters.charAt(0);
        if (argument instanceof NumberExpression value) {
            long address = value.of(batch, row);
            switch (first) {
                case 'S', 's', 'F', 'f', 'B' ->
                        symbol(out, context, address, first == 'S' || first == 'F');
                case 'e' -> error(out, address);
                case '4' -> fourCc(out, (int) address);
                default -> plain(out, address);
            }
        } else if (argument instanceof PayloadArray place) {
            int offset = place.offset(batch, row);
            int there = batch.payloadBytes(row) - offset;
            bytes(out, batch, row, offset, there, first, width);
        } else if (argument instanceof PrintArgument text) {
            text.append(out, batch, row);
        }
    }

    /** A function's name, with the distance from its start if wanted; else the address. */
    static void symbol(TextBuffer out, TextContext context, long address, boolean distance) {
        int symbol = context.symbols().find(address);
        if (symbol < 0) {
            out.put("0x").hex(address, 1);
            return;
        }
        context.symbols().appendName(out, symbol);
        if (distance) {
            out.put('+').put('0').put('x');
            out.hex(address - context.symbols().address(symbol), 1);
        }
    }

    /** {@code %pe}: the name of an error number in a pointer. */
    private static void error(TextBuffer out, long address) {
        if (address < 0 && address >= -MAX_ERRNO) {
            out.put('-').put(Errno.name((int) -address));
        } else {
            plain(out, address);
        }
    }

    /** {@code %p4cc}: {@code "BG12 little-endian (0x32314742)"}. */
    private static void fourCc(TextBuffer out, int code) {
        for (int i = 0; i < 4; i++) {
            int character = code >>> 8 * i & (i == 3 ? 0x7f : 0xff);
            out.put(character > ' ' && character < 0x7f ? (char) character : '.');
        }
        out.put(code < 0 ? " big-endian (0x" : " little-endian (0x");
        out.hex(code & 0xffff_ffffL, 8).put(')');
    }

    private static void plain(TextBuffer out, long address) {
        if (address == 0) {
            out.put("(nil)");
        } else {
            out.put('0').put('x').hex(address, 1);
        }
    }

    private void bytes(
            TextBuffer out, Batch batch, int row, int offset, int there, char kind, int width) {
        switch (kind) {
            case 'M', 'm' -> {
                if (need(out, there, 6)) {
                    mac(out, batch, row, offset);
                }
            }
            case 'I', 'i' -> address(out, batch, row, offset, there);
            case 'U' -> {
                if (need(out, there, 16)) {
                    uuid(out, batch, row, offset);
                }
            }
            case 'h' -> {
                int count = Math.min(there, width < 0 ? 1 : Math.min(width, 64));
                String separators = letters.length() > 1 ? letters.substring(1) : " ";
                for (int i = 0; i < count; i++) {
                    if (i > 0) {
                        switch (separators.charAt(0)) {
                            case 'C' -> out.put(':');
                            case 'D' -> out.put('-');
                            case 'N' -> {}
                            default -> out.put(' ');
                        }
                    }
                    out.hex(batch.u8(row, offset + i), 2);
                }
            }
            case 'b' ->
                    bitmap(out, batch, row, new BitmapFormat(offset, Math.min(width, 8 * there)));
            case '4' -> {
                if (need(out, there, 4)) {
                    fourCc(out, batch.u32(row, offset));
                }
            }
            case 'a' -> {
                int size = Math.min(there, 8);
                if (need(out, size, 8)) {
                    out.put("0x").hex(batch.u64(row, offset), 16);
                }
            }
            default -> plain(out, offset);
        }
    }

    /** {@code count} bits in words of the kernel's long. */
    private record BitmapFormat(int offset, int count) {}

    /** {@code %*pb}: words of 32 bits, the highest first; {@code %*pbl}: {@code 0-3,8}. */
    private void bitmap(TextBuffer out, Batch batch, int row, BitmapFormat bits) {
        if (letters.endsWith("l")) {
            int first = -1;
            String comma = "";
            for (int bit = 0; bit <= bits.count; bit++) {
                boolean set = bit < bits.count && isSet(batch, row, bits, bit);
                if (set && first < 0) {
                    first = bit;
                } else if (!set && first >= 0) {
                    out.put(comma).decimal(first);
                    if (bit - 1 > first) {
                        out.put('-').decimal(bit - 1);
                    }
                    comma = ",";
                    first = -1;
                }
            }
            return;
        }
        for (int word = (bits.count + 31) / 32 - 1; word >= 0; word--) {
            long value = 0;
            for (int bit = Math.min(32 * word + 32, bits.count) - 1; bit >= 32 * word; bit--) {
                value = value << 1 | (isSet(batch, row, bits, bit) ? 1 : 0);
            }
            int digits = (Math.min(32, bits.count - 32 * word) + 3) / 4;
            out.hex(value, digits).put(word > 0 ? "," : "");
        }
    }

    private boolean isSet(Batch batch, int row, BitmapFormat bits, int bit) {
        int longBits = 8 * context.longBytes();
        int inWord = bit % longBits / 8;
        int at = context.isBigEndian() ? context.longBytes() - 1 - inWord : inWord;
        int offset = bits.offset + bit / longBits * context.longBytes() + at;
        return offset < batch.payloadBytes(row) && (batch.u8(row, offset) >> bit % 8 & 1) != 0;
    }

    private static boolean need(TextBuffer out, int there, int bytes) {
        if (there < bytes) {
            out.put("[short]");
            return false;
        }
        return true;
    }

    private void mac(TextBuffer out, Batch batch, int row, int offset) {
        boolean reversed = letters.contains("R");
        boolean bare = letters.charAt(0) == 'm';
        char between = letters.contains("F") ? '-' : ':';
        for (int i = 0; i < 6; i++) {
            if (i > 0 && !bare) {
                out.put(between);
            }
            out.hex(batch.u8(row, offset + (reversed ? 5 - i : i)), 2);
        }
    }

    // Order of the bytes in the text: RFC 4122, then GUID with its first three parts little-endian.
    private static final int[] UUID_ORDER = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    private static final int[] GUID_ORDER = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

    private void uuid(TextBuffer out, Batch batch, int row, int offset) {
        boolean little = letters.endsWith("l") || letters.endsWith("L");
        int[] order = little ? GUID_ORDER : UUID_ORDER;
        int start = out.size();
        for (int i = 0; i < 16; i++) {
            if (i == 4 || i == 6 || i == 8 || i == 10) {
                out.put('-');
            }
            out.hex(batch.u8(row, offset + order[i]), 2);
        }
        if (letters.endsWith("B") || letters.endsWith("L")) {
            byte[] lower = out.since(start);
            out.truncate(start);
            String upper = new String(lower, StandardCharsets.US_ASCII);
            out.put(upper.toUpperCase(java.util.Locale.ROOT));
        }
    }

    private void address(TextBuffer out, Batch batch, int row, int offset, int there) {
        char kind = letters.charAt(1);
        boolean compressed = letters.indexOf('c', 2) > 0;
        if (kind == '4') {
            if (need(out, there, 4)) {
                IpText.v4(out, batch, row, offset, letters.charAt(0) == 'i');
            }
        } else if (kind == '6') {
            if (need(out, there, 16)) {
                IpText.v6(out, batch, row, offset, compressed, letters.charAt(0) == 'i');
            }
        } else {
            boolean port = letters.indexOf('p', 2) > 0;
            IpText.socket(out, batch, row, offset, there, port, compressed);
        }
    }
}
