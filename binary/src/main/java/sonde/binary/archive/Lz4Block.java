package sonde.binary.archive;

import sonde.binary.MalformedInputException;

/** Decompresses a block of LZ4 (lz4_Block_format.md): tokens, literals, matches that go back. */
final class Lz4Block {
    private Lz4Block() {}

    /**
     * Expands {@code in} into {@code block} from {@code start} on.
     *
     * @param first how far back matches may reach, an index of {@code block}
     * @param end where the content may not reach beyond
     * @return where it ends
     */
    static int expand(byte[] in, byte[] block, int first, int start, int end)
            throws MalformedInputException {
        int at = 0;
        int out = start;
        while (at < in.length) {
            int token = in[at++] & 0xff;
            int literals = token >> 4;
            for (int more = 255; literals >= 15 && more == 255; literals += more) {
                more = byteAt(in, at++);
            }
            require(literals >= 0 && literals <= in.length - at && literals <= end - out);
            System.arraycopy(in, at, block, out, literals);
            at += literals;
            out += literals;
            if (at == in.length) {
                break;
            }
            int back = byteAt(in, at) | byteAt(in, at + 1) << 8;
            at += 2;
            int match = token & 15;
            for (int more = 255; match >= 15 && more == 255; match += more) {
                more = byteAt(in, at++);
            }
            match += 4;
            require(back > 0 && back <= out - first && match >= 4 && match <= end - out);
            for (int stop = out + match; out < stop; out++) {
                block[out] = block[out - back];
            }
        }
        return out;
    }

    private static int byteAt(byte[] in, int at) throws MalformedInputException {
        require(at < in.length);
        return in[at] & 0xff;
    }

    private static void require(boolean holds) throws MalformedInputException {
        if (!holds) {
            throw new MalformedInputException("lz4", "block", -1, "damaged");
        }
    }
}
