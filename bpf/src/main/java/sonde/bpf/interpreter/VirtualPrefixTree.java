package sonde.bpf.interpreter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;

/**
 * BPF_MAP_TYPE_LPM_TRIE (kernel/bpf/lpm_trie.c): a key is a u32 length in bits and the bytes it is
 * about; a lookup finds the longest prefix of its key that is there.
 */
public final class VirtualPrefixTree extends VirtualMap {
    private static final int LENGTH_BYTES = 4;

    private final Map<ByteBuffer, MemoryRegion> entries = new LinkedHashMap<>();

    /**
     * An empty one.
     *
     * @param keyBytes with the 4 of the length
     */
    public VirtualPrefixTree(String name, int keyBytes, int valueBytes, int maxEntries) {
        super(name, keyBytes, valueBytes, maxEntries);
        if (keyBytes <= LENGTH_BYTES || keyBytes > LENGTH_BYTES + 256) {
            throw new IllegalArgumentException("keys of %d bytes".formatted(keyBytes));
        }
    }

    /** A key of an address and a length in bits. */
    public static byte[] key(int bits, byte... address) {
        return ByteBuffer.allocate(LENGTH_BYTES + address.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(bits)
                .put(address)
                .array();
    }

    private int mostBits() {
        return (keyBytes() - LENGTH_BYTES) * 8;
    }

    private static int bits(byte[] key) {
        return ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    /** The key with as many bits, those behind them zero. */
    private static ByteBuffer prefix(byte[] key, int bits) {
        byte[] prefix = key.clone();
        ByteBuffer.wrap(prefix).order(ByteOrder.LITTLE_ENDIAN).putInt(bits);
        for (int i = LENGTH_BYTES; i < prefix.length; i++) {
            int before = (i - LENGTH_BYTES) * 8;
            int kept = Math.clamp(bits - before, 0, 8);
            prefix[i] = (byte) (prefix[i] & 0xff00 >> kept);
        }
        return ByteBuffer.wrap(prefix);
    }

    @Override
    @Nullable MemoryRegion lookup(byte[] key, int cpu) {
        int bits = bits(key);
        if (bits < 0 || bits > mostBits()) {
            return null;
        }
        for (int i = bits; i >= 0; i--) {
            MemoryRegion found = entries.get(prefix(key, i));
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    @Override
    public int update(byte[] key, byte[] value, long flags, int cpu) {
        int bits = bits(key);
        if (flags < 0 || flags > EXIST || bits < 0 || bits > mostBits()) {
            return -Errno.EINVAL;
        }
        ByteBuffer prefix = prefix(key, bits);
        MemoryRegion before = entries.get(prefix);
        int refusal = refusal(flags, before != null);
        if (refusal != 0) {
            return refusal;
        }
        if (before == null && entries.size() >= maxEntries()) {
            return -Errno.ENOSPC;
        }
        MemoryRegion added = MemoryRegion.of("value of map " + name(), new byte[valueBytes()]);
        added.put(value);
        entries.put(prefix, added);
        if (before != null) {
            before.release();
        }
        return 0;
    }

    @Override
    public int delete(byte[] key) {
        int bits = bits(key);
        if (bits < 0 || bits > mostBits()) {
            return -Errno.EINVAL;
        }
        MemoryRegion removed = entries.remove(prefix(key, bits));
        if (removed == null) {
            return -Errno.ENOENT;
        }
        removed.release();
        return 0;
    }

    @Override
    public List<byte[]> keys() {
        List<byte[]> keys = new ArrayList<>();
        for (ByteBuffer key : entries.keySet()) {
            keys.add(key.array().clone());
        }
        return keys;
    }
}
