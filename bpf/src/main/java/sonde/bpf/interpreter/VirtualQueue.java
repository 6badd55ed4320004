package sonde.bpf.interpreter;

import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;

/** BPF_MAP_TYPE_QUEUE and STACK (kernel/bpf/queue_stack_maps.c): values without keys. */
public final class VirtualQueue extends VirtualMap {
    private final ArrayDeque<byte[]> values = new ArrayDeque<>();
    private final boolean stack;

    private VirtualQueue(String name, int valueBytes, int maxEntries, boolean stack) {
        super(name, 0, valueBytes, maxEntries);
        this.stack = stack;
    }

    /** First in, first out. */
    public static VirtualQueue of(String name, int valueBytes, int maxEntries) {
        return new VirtualQueue(name, valueBytes, maxEntries, false);
    }

    /** Last in, first out. */
    public static VirtualQueue stack(String name, int valueBytes, int maxEntries) {
        return new VirtualQueue(name, valueBytes, maxEntries, true);
    }

    @Override
    int push(byte[] value, long flags) {
        if (flags < 0 || flags > EXIST || flags == NO_EXIST) {
            return -Errno.EINVAL;
        }
        if (values.size() >= maxEntries()) {
            if (flags != EXIST) {
                return -Errno.E2BIG;
            }
            values.removeFirst();
        }
        values.addLast(Arrays.copyOf(value, valueBytes()));
        return 0;
    }

    @Override
    int pop(byte[] into, boolean remove) {
        byte[] value = stack ? values.peekLast() : values.peekFirst();
        if (value == null) {
            Arrays.fill(into, (byte) 0);
            return -Errno.ENOENT;
        }
        System.arraycopy(value, 0, into, 0, value.length);
        if (remove && stack) {
            values.removeLast();
        } else if (remove) {
            values.removeFirst();
        }
        return 0;
    }

    @Override
    public int update(byte[] key, byte[] value, long flags, int cpu) {
        return push(value, flags);
    }

    /** The next value, removed; null when it is empty. */
    public byte @Nullable [] take() {
        byte[] value = new byte[valueBytes()];
        return pop(value, true) == 0 ? value : null;
    }
}
