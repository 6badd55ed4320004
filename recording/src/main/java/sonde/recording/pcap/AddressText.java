package sonde.recording.pcap;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Internet addresses as text. */
final class AddressText {
    private AddressText() {}

    /** Dotted decimal; the four bytes must be there. */
    static String ipv4(MemorySegment data, long at) {
        return byteAt(data, at)
                + "."
                + byteAt(data, at + 1)
                + "."
                + byteAt(data, at + 2)
                + "."
                + byteAt(data, at + 3);
    }

    private static int byteAt(MemorySegment data, long at) {
        return data.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    /** As RFC 5952 writes it; the 16 bytes must be there. */
    static String ipv6(MemorySegment data, long at) {
        int[] groups = new int[8];
        for (int i = 0; i < 8; i++) {
            groups[i] = byteAt(data, at + 2L * i) << 8 | byteAt(data, at + 2L * i + 1);
        }
        int start = -1;
        int longest = 1;
        for (int i = 0; i < 8; i++) {
            int length = 0;
            while (i + length < 8 && groups[i + length] == 0) {
                length++;
            }
            if (length > longest) {
                longest = length;
                start = i;
            }
        }
        StringBuilder text = new StringBuilder();
        int i = 0;
        while (i < 8) {
            if (i == start) {
                text.append("::");
                i += longest;
            } else {
                boolean needs = !text.isEmpty() && text.charAt(text.length() - 1) != ':';
                text.append(needs ? ":" : "").append(Integer.toHexString(groups[i++]));
            }
        }
        return text.toString();
    }
}
