package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;

/** Addresses of the Internet as they are written. */
public final class InternetAddress {
    private InternetAddress() {}

    /** 4 or 16 bytes in network order; null for what is not an address. */
    public static byte @Nullable [] parse(String text) {
        return text.indexOf(':') >= 0 ? six(text) : four(text);
    }

    private static byte @Nullable [] four(String text) {
        String[] parts = text.split("\\.", -1);
        if (parts.length != 4) {
            return null;
        }
        byte[] out = new byte[4];
        for (int i = 0; i < 4; i++) {
            if (!parts[i].matches("[0-9]{1,3}") || Integer.parseInt(parts[i]) > 255) {
                return null;
            }
            out[i] = (byte) Integer.parseInt(parts[i]);
        }
        return out;
    }

    private static byte @Nullable [] six(String text) {
        int gap = text.indexOf("::");
        if (gap >= 0 && text.indexOf("::", gap + 1) >= 0) {
            return null;
        }
        byte[] front = groups(gap < 0 ? text : text.substring(0, gap));
        byte[] back = gap < 0 ? new byte[0] : groups(text.substring(gap + 2));
        if (front == null || back == null) {
            return null;
        }
        int count = front.length + back.length;
        if (gap < 0 ? count != 16 : count > 14) {
            return null;
        }
        byte[] out = new byte[16];
        System.arraycopy(front, 0, out, 0, front.length);
        System.arraycopy(back, 0, out, 16 - back.length, back.length);
        return out;
    }

    private static byte @Nullable [] groups(String text) {
        if (text.isEmpty()) {
            return new byte[0];
        }
        String[] parts = text.split(":", -1);
        byte[] last =
                parts[parts.length - 1].indexOf('.') < 0 ? null : four(parts[parts.length - 1]);
        int words = last == null ? parts.length : parts.length - 1;
        byte[] out = new byte[words * 2 + (last == null ? 0 : 4)];
        for (int i = 0; i < words; i++) {
            if (!parts[i].matches("[0-9a-fA-F]{1,4}")) {
                return null;
            }
            int value = Integer.parseInt(parts[i], 16);
            out[2 * i] = (byte) (value >> 8);
            out[2 * i + 1] = (byte) value;
        }
        if (last != null) {
            System.arraycopy(last, 0, out, words * 2, 4);
        }
        return out.length > 16 ? null : out;
    }
}
