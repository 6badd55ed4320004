package sonde.bpf.interpreter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;

/** BPF_MAP_TYPE_ARRAY and its per-CPU kind (kernel/bpf/arraymap.c): keys u32, all there, zero. */
public final class VirtualArray extends VirtualMap {
    private final @Nullable MemoryRegion[][] values;
    private final byte[][] bytes;

    private VirtualArray(String name, int valueBytes, int maxEntries, int cpus) {
        super(name, 4, valueBytes, maxEntries);
        this.values = new MemoryRegion[cpus][maxEntries];
        this.bytes = new byte[cpus][Math.multiplyExact(valueBytes, maxEntries)];
    }

    /** An array. */
    public static VirtualArray of(String name, int valueBytes, int maxEntries) {
        return new VirtualArray(name, valueBytes, maxEntries, 1);
    }

    /** An array with values for each CPU. */
    public static VirtualArray perCpu(String name, int valueBytes, int maxEntries, int cpus) {
        return new VirtualArray(name, valueBytes, maxEntries, cpus);
    }

    /** The key of an index. */
    public static byte[] key(int index) {
        return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(index).array();
    }

    private static int index(byte[] key) {
        return ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    MemoryRegion value(int index, int cpu) {
        @Nullable MemoryRegion[] ofCpu = values[values.length == 1 ? 0 : cpu];
        MemoryRegion value = ofCpu[index];
        if (value == null) {
            int start = index * valueBytes();
            value =
                    MemoryRegion.of(
                            "value of map " + name(),
                            bytes[values.length == 1 ? 0 : cpu],
                            start,
                            valueBytes());
            ofCpu[index] = value;
        }
        return value;
    }

    @Override
    @Nullable MemoryRegion lookup(byte[] key, int cpu) {
        int index = index(key);
        return Integer.compareUnsigned(index, maxEntries()) < 0 ? value(index, cpu) : null;
    }

    @Override
    public int update(byte[] key, byte[] value, long flags, int cpu) {
        if (flags < 0 || flags > EXIST) {
            return -Errno.EINVAL;
        }
        int index = index(key);
        if (Integer.compareUnsigned(index, maxEntries()) >= 0) {
            return -Errno.E2BIG;
        }
        if (flags == NO_EXIST) {
            return -Errno.EEXIST;
        }
        value(index, cpu).put(value);
        return 0;
    }

    @Override
    public int delete(byte[] key) {
        return -Errno.EINVAL;
    }

    @Override
    public List<byte[]> keys() {
        List<byte[]> keys = new ArrayList<>(maxEntries());
        for (int i = 0; i < maxEntries(); i++) {
            keys.add(key(i));
        }
        return keys;
    }
}
