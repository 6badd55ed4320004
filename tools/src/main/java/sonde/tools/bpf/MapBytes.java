package sonde.tools.bpf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Bytes of keys and values as people write and read them. */
final class MapBytes {
    private MapBytes() {}

    /**
     * Reads {@code 0x2a 0 0 0}, {@code hex 2a 00 00 00}, or one number for 1, 2, 4 or 8 bytes.
     *
     * @param size what they must be
     */
    static byte[] parse(List<String> words, int size) {
        try {
            boolean hex = !words.isEmpty() && words.getFirst().equals("hex");
            List<String> bytes = hex ? words.subList(1, words.size()) : words;
            if (bytes.size() == 1 && size > 1) {
                return number(hex ? "0x" + bytes.getFirst() : bytes.getFirst(), size);
            }
            if (bytes.size() != size) {
                throw new BpfUseException(bytes.size() + " bytes given where there are " + size);
            }
            byte[] all = new byte[size];
            for (int i = 0; i < size; i++) {
                int value = hex ? Integer.parseInt(bytes.get(i), 16) : Integer.decode(bytes.get(i));
                if (value < 0 || value > 255) {
                    throw new BpfUseException("'" + bytes.get(i) + "' is not a byte");
                }
                all[i] = (byte) value;
            }
            return all;
        } catch (NumberFormatException e) {
            throw new BpfUseException("no bytes: " + String.join(" ", words), e);
        }
    }

    private static byte[] number(String word, int size) {
        if (size != 2 && size != 4 && size != 8) {
            throw new BpfUseException("there are " + size + " bytes; write each");
        }
        long value = Long.decode(word);
        if (size < 8 && (value >= 1L << 8 * size || value < -(1L << 8 * size - 1))) {
            throw new BpfUseException(word + " does not fit " + size + " bytes");
        }
        ByteBuffer all = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(0, value);
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
                ? Arrays.copyOf(all.array(), size)
                : Arrays.copyOfRange(all.array(), 8 - size, 8);
    }

    /** {@code ["0x2a", "0x00"]}. */
    static List<String> texts(byte[] bytes) {
        List<String> all = new ArrayList<>();
        for (byte b : bytes) {
            all.add("0x%02x".formatted(b & 0xff));
        }
        return all;
    }

    /** {@code "2a 00 00 00 (42)"}: the number too where it may be one. */
    static String shown(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            text.append(text.isEmpty() ? "" : " ").append("%02x".formatted(b & 0xff));
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        return switch (bytes.length) {
            case 4 -> text + " (" + Integer.toUnsignedString(buffer.getInt()) + ")";
            case 8 -> text + " (" + Long.toUnsignedString(buffer.getLong()) + ")";
            default -> text.toString();
        };
    }
}
