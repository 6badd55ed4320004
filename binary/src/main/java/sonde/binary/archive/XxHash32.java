package sonde.binary.archive;

/** The checksum of LZ4 frames (xxhash_spec.md 0.2.0, XXH32, seed 0). */
final class XxHash32 {
    private static final int PRIME1 = 0x9E3779B1;
    private static final int PRIME2 = 0x85EBCA77;
    private static final int PRIME3 = 0xC2B2AE3D;
    private static final int PRIME4 = 0x27D4EB2F;
    private static final int PRIME5 = 0x165667B1;
    // PRIME1 + PRIME2, modulo 2^32
    private static final int SUM = 0x24234428;
    private static final int STRIPE_BYTES = 16;

    private final int[] lanes = {SUM, PRIME2, 0, -PRIME1};
    private final byte[] rest = new byte[STRIPE_BYTES];
    private int kept;
    private long total;

    static int of(byte[] bytes, int from, int to) {
        XxHash32 hash = new XxHash32();
        hash.update(bytes, from, to);
        return hash.value();
    }

    void update(byte[] bytes, int from, int to) {
        int at = from;
        total += to - from;
        while (at < to) {
            if (kept == 0 && to - at >= STRIPE_BYTES) {
                stripe(bytes, at);
                at += STRIPE_BYTES;
            } else {
                rest[kept++] = bytes[at++];
                if (kept == STRIPE_BYTES) {
                    stripe(rest, 0);
                    kept = 0;
                }
            }
        }
    }

    private void stripe(byte[] bytes, int at) {
        for (int lane = 0; lane < 4; lane++) {
            int sum = lanes[lane] + word(bytes, at + 4 * lane) * PRIME2;
            lanes[lane] = Integer.rotateLeft(sum, 13) * PRIME1;
        }
    }

    private static int word(byte[] bytes, int at) {
        return bytes[at] & 0xff
                | (bytes[at + 1] & 0xff) << 8
                | (bytes[at + 2] & 0xff) << 16
                | bytes[at + 3] << 24;
    }

    int value() {
        int hash = PRIME5;
        if (total >= STRIPE_BYTES) {
            hash =
                    Integer.rotateLeft(lanes[0], 1)
                            + Integer.rotateLeft(lanes[1], 7)
                            + Integer.rotateLeft(lanes[2], 12)
                            + Integer.rotateLeft(lanes[3], 18);
        }
        hash += (int) total;
        int at = 0;
        for (; kept - at >= 4; at += 4) {
            hash = Integer.rotateLeft(hash + word(rest, at) * PRIME3, 17) * PRIME4;
        }
        for (; at < kept; at++) {
            hash = Integer.rotateLeft(hash + (rest[at] & 0xff) * PRIME5, 11) * PRIME1;
        }
        hash = (hash ^ hash >>> 15) * PRIME2;
        hash = (hash ^ hash >>> 13) * PRIME3;
        return hash ^ hash >>> 16;
    }
}
