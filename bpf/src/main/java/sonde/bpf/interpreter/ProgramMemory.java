package sonde.bpf.interpreter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.bpf.interpreter.MemoryRegion.ContextFields;

/**
 * The memory a program sees: regions, each with 4 GiB of addresses of its own, its number in the
 * upper half. An address that leaves its region is in none. Numbers are little-endian.
 */
public final class ProgramMemory {
    private static final VarHandle SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** Numbers of regions stay below the addresses of code and far below those of a kernel. */
    private static final int MOST = 1 << 24;

    private static final MemoryRegion NOWHERE = MemoryRegion.readOnly("nowhere", new byte[0]);

    /** What an access fell over; the loop adds where. */
    static final class AccessException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        AccessException(String reason) {
            super(reason, null, false, false);
        }
    }

    private MemoryRegion[] regions = new MemoryRegion[64];
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private int count = 1;
    private int sweepAt = 1 << 12;

    ProgramMemory() {
        Arrays.fill(regions, NOWHERE);
    }

    /** The address of a region's first byte; it gets one when it has none yet. */
    public long address(MemoryRegion region) {
        if (region.space != this) {
            Integer reused = free.poll();
            int number = reused != null ? reused : count++;
            if (number >= MOST) {
                throw new AccessException("more than %d pieces of memory".formatted(MOST));
            }
            if (number >= regions.length) {
                int before = regions.length;
                regions = Arrays.copyOf(regions, before * 2);
                Arrays.fill(regions, before, regions.length, NOWHERE);
            }
            regions[number] = region;
            region.space = this;
            region.address = (long) number << 32;
        }
        return region.address;
    }

    /** Takes back the numbers of released regions; no program may be running. */
    void sweep() {
        if (count < sweepAt) {
            return;
        }
        for (int i = 1; i < count; i++) {
            if (regions[i].dead && regions[i].space == this) {
                regions[i].space = null;
                regions[i] = NOWHERE;
                free.add(i);
            }
        }
        sweepAt = Math.max(sweepAt, 2 * (count - free.size()));
    }

    /** The region an address is in; null when it is in none. */
    @Nullable MemoryRegion find(long address) {
        long number = address >>> 32;
        return number < count && regions[(int) number] != NOWHERE ? regions[(int) number] : null;
    }

    private MemoryRegion at(long address, int bytes) {
        long number = address >>> 32;
        MemoryRegion region = number < regions.length ? regions[(int) number] : NOWHERE;
        if ((address & 0xffffffffL) + bytes > region.length) {
            throw outside(region, address, bytes);
        }
        return region;
    }

    private static AccessException outside(MemoryRegion region, long address, int bytes) {
        String reason =
                region == NOWHERE
                        ? "%d bytes at 0x%x, where nothing is".formatted(bytes, address)
                        : "%d bytes at %d of the %s, which has %d"
                                .formatted(bytes, (int) address, region.name, region.length);
        return new AccessException(reason);
    }

    private MemoryRegion writable(long address, int bytes) {
        MemoryRegion region = at(address, bytes);
        if (!region.writable) {
            throw new AccessException("the " + region.name + " may only be read");
        }
        return region;
    }

    private static long made(MemoryRegion region, ContextFields fields, long address, int bytes) {
        Long value = fields.load((int) address, bytes);
        if (value == null) {
            String reason =
                    "%d bytes at %d of the %s, where no field is so"
                            .formatted(bytes, (int) address, region.name);
            throw new AccessException(reason);
        }
        return value;
    }

    long load8(long address) {
        MemoryRegion r = at(address, 1);
        ContextFields fields = r.fields;
        return fields != null
                ? made(r, fields, address, 1)
                : r.data[r.start + (int) address] & 0xff;
    }

    long load16(long address) {
        MemoryRegion r = at(address, 2);
        ContextFields fields = r.fields;
        return fields != null
                ? made(r, fields, address, 2)
                : (short) SHORT.get(r.data, r.start + (int) address) & 0xffff;
    }

    long load32(long address) {
        MemoryRegion r = at(address, 4);
        ContextFields fields = r.fields;
        return fields != null
                ? made(r, fields, address, 4)
                : (int) INT.get(r.data, r.start + (int) address) & 0xffffffffL;
    }

    long load64(long address) {
        MemoryRegion r = at(address, 8);
        ContextFields fields = r.fields;
        return fields != null
                ? made(r, fields, address, 8)
                : (long) LONG.get(r.data, r.start + (int) address);
    }

    void store8(long address, long value) {
        MemoryRegion r = writable(address, 1);
        r.data[r.start + (int) address] = (byte) value;
    }

    void store16(long address, long value) {
        MemoryRegion r = writable(address, 2);
        SHORT.set(r.data, r.start + (int) address, (short) value);
    }

    void store32(long address, long value) {
        MemoryRegion r = writable(address, 4);
        INT.set(r.data, r.start + (int) address, (int) value);
    }

    void store64(long address, long value) {
        MemoryRegion r = writable(address, 8);
        LONG.set(r.data, r.start + (int) address, value);
    }

    /** A copy of bytes. */
    byte[] read(long address, int bytes) {
        MemoryRegion r = at(address, bytes);
        int from = r.start + (int) address;
        return Arrays.copyOfRange(r.data, from, from + bytes);
    }

    void write(long address, byte[] bytes) {
        MemoryRegion r = writable(address, bytes.length);
        System.arraycopy(bytes, 0, r.data, r.start + (int) address, bytes.length);
    }
}
