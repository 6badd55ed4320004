package sonde.binary.btf;

import java.util.Arrays;
import sonde.binary.MalformedInputException;

/**
 * Constants of a blob's enumerations by the hash of their name: chains through arrays of ints, 12
 * bytes a constant. Made in one pass that decodes no type.
 */
final class EnumeratorIndex {
    private final Btf btf;
    private final int[] heads;
    private final int[] next;
    private final int[] enums;
    private final int[] names;

    private EnumeratorIndex(Btf btf, int[] enums, int[] names) throws MalformedInputException {
        this.btf = btf;
        this.enums = enums;
        this.names = names;
        heads = new int[Integer.highestOneBit(Math.max(enums.length, 16)) << 1];
        next = new int[enums.length];
        // Backwards, so that chains give the first ones first.
        for (int i = enums.length - 1; i >= 0; i--) {
            int slot = slot(btf.hash(names[i] & 0xffff_ffffL));
            next[i] = heads[slot];
            heads[slot] = i + 1;
        }
    }

    static EnumeratorIndex of(Btf btf) throws MalformedInputException {
        int[] enums = new int[1 << 12];
        int[] names = new int[enums.length];
        int count = 0;
        for (int id = btf.firstId(); id < btf.end(); id++) {
            int kind = btf.kind(id);
            if (kind != BtfDecoder.ENUM && kind != BtfDecoder.ENUM64) {
                continue;
            }
            int parts = btf.partCount(id);
            if (count + parts > enums.length) {
                int more = Math.max(2 * enums.length, count + parts);
                enums = Arrays.copyOf(enums, more);
                names = Arrays.copyOf(names, more);
            }
            for (int i = 0; i < parts; i++) {
                enums[count] = id;
                names[count++] = (int) btf.enumeratorNameOffset(id, i);
            }
        }
        return new EnumeratorIndex(btf, Arrays.copyOf(enums, count), Arrays.copyOf(names, count));
    }

    private int slot(int hash) {
        return (hash ^ hash >>> 15) & heads.length - 1;
    }

    /** The id of the enumeration; 0 for none. */
    int find(String name) throws MalformedInputException {
        for (int i = heads[slot(BtfNameIndex.hash(name))]; i != 0; i = next[i - 1]) {
            if (btf.string(names[i - 1] & 0xffff_ffffL).equals(name)) {
                return enums[i - 1];
            }
        }
        return 0;
    }
}
