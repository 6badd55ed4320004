package sonde.binary.btf;

import java.nio.charset.StandardCharsets;
import sonde.binary.MalformedInputException;

/**
 * Types of one blob by the hash of their name: chains through two arrays of ints. A name with a
 * flavour ({@code task_struct___old}) is found in the chain of its name without ({@link
 * NameFlavour}).
 */
final class BtfNameIndex {
    private final int firstId;
    private final int[] heads;
    private final int[] next;

    private BtfNameIndex(int firstId, int count) {
        this.firstId = firstId;
        heads = new int[Integer.highestOneBit(Math.max(count, 16)) << 1];
        next = new int[count];
    }

    static BtfNameIndex of(Btf btf) throws MalformedInputException {
        int first = btf.firstId();
        BtfNameIndex index = new BtfNameIndex(first, btf.end() - first);
        // Backwards, so that chains give the lower ids first.
        for (int id = btf.end() - 1; id >= first; id--) {
            long offset = btf.nameOffset(id);
            if (offset != 0) {
                int slot = index.slot(btf.hash(offset));
                index.next[id - first] = index.heads[slot];
                index.heads[slot] = id;
            }
        }
        return index;
    }

    static int hash(String name) {
        NameFlavour.Hash hash = new NameFlavour.Hash();
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            hash.add(b);
        }
        return hash.value();
    }

    private int slot(int hash) {
        return (hash ^ hash >>> 15) & heads.length - 1;
    }

    int first(String name) {
        return heads[slot(hash(name))];
    }

    int next(int id) {
        return next[id - firstId];
    }
}
