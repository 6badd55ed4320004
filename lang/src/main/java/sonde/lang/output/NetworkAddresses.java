package sonde.lang.output;

/** Addresses of networks as text: inet_ntop and colons between hexadecimal bytes. */
final class NetworkAddresses {
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;

    private NetworkAddresses() {}

    /** 4 bytes family, then the address in network order; nothing for families not known. */
    static void inet(byte[] bytes, int at, TextSink out) {
        switch (ValueBytes.s32(bytes, at)) {
            case AF_INET -> four(bytes, at + 4, out);
            case AF_INET6 -> six(bytes, at + 4, out);
            default -> {}
        }
    }

    private static int u8(byte[] bytes, int at) {
        return (int) ValueBytes.integer(bytes, at, 1, false);
    }

    private static void four(byte[] bytes, int at, TextSink out) {
        for (int i = 0; i < 4; i++) {
            if (i > 0) {
                out.put('.');
            }
            out.unsigned(u8(bytes, at + i));
        }
    }

    /** RFC 5952, with IPv4 in the last four bytes of ::a.b.c.d and ::ffff:a.b.c.d as glibc does. */
    private static void six(byte[] bytes, int at, TextSink out) {
        int[] words = new int[8];
        for (int i = 0; i < 8; i++) {
            words[i] = u8(bytes, at + 2 * i) << 8 | u8(bytes, at + 2 * i + 1);
        }
        int from = -1;
        int longest = 1;
        for (int i = 0; i < 8; i++) {
            int run = 0;
            while (i + run < 8 && words[i + run] == 0) {
                run++;
            }
            if (run > longest) {
                longest = run;
                from = i;
            }
            i += run;
        }
        for (int i = 0; i < 8; i++) {
            if (i == from) {
                out.put(i == 0 ? "::" : ":");
                i += longest - 1;
                continue;
            }
            if (i == 6 && from == 0 && (longest == 6 || longest == 5 && words[5] == 0xffff)) {
                four(bytes, at + 12, out);
                return;
            }
            out.hex(words[i], false);
            if (i < 7) {
                out.put(':');
            }
        }
    }

    static void mac(byte[] bytes, int at, TextSink out) {
        for (int i = 0; i < 6; i++) {
            if (i > 0) {
                out.put(':');
            }
            int b = u8(bytes, at + i);
            out.hex(b >> 4, true);
            out.hex(b & 15, true);
        }
    }
}
