package sonde.exchange.heap;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import sonde.event.heap.HeapMoment;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSums;

/**
 * Reads what memusage writes with {@code -d FILE} (glibc {@code malloc/memusage.c}): entries of 24
 * bytes with the heap, the stack and a time in cycles; the first two have the begin, the end and
 * the largest values. There are no stacks in it.
 */
final class MemusageProfile {
    static final int ENTRY_BYTES = 24;

    private MemusageProfile() {}

    /**
     * Whether all entries of the beginning keep to the largest values that the second one names.
     */
    static boolean isOne(byte[] head) {
        ByteBuffer entries = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
        int count = head.length / ENTRY_BYTES;
        if (count < 3 || entries.getLong(0) != 0 || entries.getLong(ENTRY_BYTES) <= 0) {
            return false;
        }
        long start = entries.getLong(16);
        long end = entries.getLong(ENTRY_BYTES + 16);
        long mostHeap = entries.getLong(ENTRY_BYTES);
        long mostStack = entries.getLong(ENTRY_BYTES + 8);
        for (int at = 2 * ENTRY_BYTES; at + ENTRY_BYTES <= head.length; at += ENTRY_BYTES) {
            long time = entries.getLong(at + 16);
            boolean fits =
                    entries.getLong(at) >= 0
                            && entries.getLong(at) <= mostHeap
                            && entries.getLong(at + 8) >= 0
                            && entries.getLong(at + 8) <= mostStack
                            && time >= start
                            && time <= end;
            if (!fits) {
                return false;
            }
        }
        return start > 0;
    }

    static HeapFile read(InputStream in, long until) throws IOException {
        CurvePoints curve = new CurvePoints();
        long most = until == HeapSums.UNKNOWN ? Long.MAX_VALUE : until;
        long calls = -2;
        long peak = 0;
        long peakTime = 0;
        long heap = 0;
        byte[] entry = in.readNBytes(ENTRY_BYTES);
        while (entry.length == ENTRY_BYTES && calls < most) {
            calls++;
            if (calls > 0) {
                heap = ByteBuffer.wrap(entry).order(ByteOrder.LITTLE_ENDIAN).getLong();
                if (heap > peak) {
                    peak = heap;
                    peakTime = calls;
                }
                curve.add(new HeapMoment(calls, heap, HeapSums.UNKNOWN, HeapSums.UNKNOWN));
            }
            entry = in.readNBytes(ENTRY_BYTES);
        }
        HeapProfile profile =
                new HeapProfile(
                        "",
                        "memusage",
                        HeapSums.UNKNOWN,
                        "calls",
                        new HeapSums(-1, -1, -1, heap, -1, peak, -1, -1),
                        peakTime,
                        HeapSums.UNKNOWN,
                        List.of(),
                        curve.points(),
                        List.of(),
                        List.of(),
                        List.of("memusage keeps no call stacks: only the curve is known."));
        return new HeapFile(profile, List.of(), List.of());
    }
}
