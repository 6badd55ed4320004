package sonde.probe.perf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_LOST;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_SAMPLE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import sonde.probe.stack.StackPrograms;
import sonde.probe.stack.UserStackEnd;
import sonde.probe.stack.UserStackRecord;
import sonde.recording.perfdata.PerfAbi;

/**
 * Puts the user stacks that programs in the kernel wrote into a ring ({@link UserStackRecord}) into
 * their samples, so that perf.data holds ordinary call chains. One for each ring.
 *
 * <p>A stack belongs to the next sample of its event and thread, for a tracepoint to the one before
 * it; another hit may lie in between, in an interrupt. A stack whose sample a filter or a full ring
 * left out is dropped.
 */
final class UserStackMerge {
    // A sample of ours: header, identifier, ip, pid and tid, time, cpu, period, then the call chain
    // (nr and addresses), or without one the size of the RAW part.
    private static final long IDENTIFIER = 8;
    private static final long IP = 16;
    private static final long TID = 28;

    /** Time of a sample in the ring. */
    static final long TIME = 32;

    private static final long CHAIN = 56;
    private static final long RAW = 60;

    /**
     * The times of a sample and its stack differ by less. That of the sample is the earlier one
     * where it is taken before the program runs (bpf_overflow_handler since Linux 6.3).
     */
    private static final long MOST_NANOS = 20_000_000;

    private static final int MOST_RECORD = 0xffff;
    private static final long PENDING_BYTES = 1 << 17;

    /** More memory is given back when nothing waits in it. */
    private static final long LARGE = 16 << 20;

    private final StackPrograms stacks;
    private final Set<Long> outputs;
    private final Map<Long, Integer> numbers;
    private final Set<Integer> tracepoints;
    private final Map<Integer, Pending> pending = new HashMap<>();
    private Arena arena = Arena.ofShared();
    private MemorySegment from = MemorySegment.NULL;
    private MemorySegment to = MemorySegment.NULL;
    private long used;
    private long held;

    /** What is known of an event's last hit: a stack, or its sample. */
    private static final class Pending {
        final long[] frames = new long[UserStackRecord.MOST_FRAMES];
        MemorySegment copy = MemorySegment.NULL;
        UserStackEnd end = UserStackEnd.OUTERMOST;
        int count;
        int pid;
        int tid;
        long time;

        /** Place of the sample of a tracepoint among the merged records; -1 without one. */
        long sample = -1;
    }

    /**
     * @param outputs identifiers of the bpf-output events
     * @param numbers number of the event of each identifier, for events with stacks
     * @param tracepoints numbers of those whose stacks come behind the samples
     */
    UserStackMerge(
            StackPrograms stacks,
            Set<Long> outputs,
            Map<Long, Integer> numbers,
            Set<Integer> tracepoints) {
        this.stacks = stacks;
        this.outputs = outputs;
        this.numbers = numbers;
        this.tracepoints = tracepoints;
    }

    /** Room for more of a ring's records, behind those that wait; valid until the next call. */
    MemorySegment more(long bytes) {
        long all = held + bytes;
        boolean spare = held == 0 && from.byteSize() > Math.max(LARGE, 4 * bytes);
        if (from.byteSize() < all || spare) {
            Arena before = arena;
            MemorySegment there = from.asSlice(0, held);
            arena = Arena.ofShared();
            from = arena.allocate(held == 0 ? all : 2 * all, 8);
            from.copyFrom(there);
            // A stack adds less to its sample than its record had, but the record may have come
            // with an earlier drain.
            to = arena.allocate(from.byteSize() + PENDING_BYTES, 8);
            before.close();
        }
        MemorySegment room = from.asSlice(held, bytes);
        held = all;
        return room;
    }

    /** Bytes of records that wait to be merged. */
    long heldBytes() {
        return held;
    }

    /** The records that wait, with their stacks; valid until the next call. */
    MemorySegment merge() throws IOException {
        long bytes = held;
        held = 0;
        used = 0;
        pending.values().forEach(hit -> hit.sample = -1);
        long at = 0;
        while (at + PerfAbi.HEADER_BYTES <= bytes) {
            long header = from.get(JAVA_LONG_UNALIGNED, at);
            int size = (int) (header >>> 48);
            if (size < PerfAbi.HEADER_BYTES || at + size > bytes) {
                break;
            }
            if ((int) header == PERF_RECORD_LOST) {
                // A stack that comes now may be that of another hit.
                pending.values().forEach(hit -> hit.sample = -1);
            }
            if ((int) header != PERF_RECORD_SAMPLE || size < CHAIN + 8 || !sample(at, size)) {
                keep(at, size);
            }
            at += size;
        }
        keep(at, bytes - at);
        return to.asSlice(0, used);
    }

    private void keep(long at, long size) {
        MemorySegment.copy(from, at, to, used, size);
        used += size;
    }

    /** Whether the sample has been dealt with. */
    private boolean sample(long at, int size) throws IOException {
        long identifier = from.get(JAVA_LONG_UNALIGNED, at + IDENTIFIER);
        Integer number = numbers.get(identifier);
        if (number != null) {
            Pending hit = pending.computeIfAbsent(number, _ -> new Pending());
            if (tracepoints.contains(number)) {
                hit.sample = used;
                return false;
            }
            keep(at, size);
            putInto(used - size, hit, number);
            return true;
        }
        if (size < RAW + UserStackRecord.HEAD_BYTES || !outputs.contains(identifier)) {
            return false;
        }
        UserStackRecord record = new UserStackRecord(from.asSlice(at + RAW, size - RAW));
        if (record.isCopy()) {
            pending.computeIfAbsent(record.event(), _ -> new Pending()).copy =
                    MemorySegment.ofArray(record.bytes().toArray(JAVA_BYTE));
            return true;
        }
        if (!record.isStack()) {
            return false;
        }
        Pending stack = pending.computeIfAbsent(record.event(), _ -> new Pending());
        stack.count = record.copy(stack.frames);
        stack.end = record.end();
        if (stack.end == UserStackEnd.NO_TABLE && stack.copy.byteSize() > 0) {
            stack.count = stacks.complete(record.pid(), stack.frames, stack.count, stack.copy);
            stack.end = stacks.completedEnd();
        }
        stack.copy = MemorySegment.NULL;
        stack.pid = record.pid();
        stack.tid = record.tid();
        stack.time = from.get(JAVA_LONG_UNALIGNED, at + TIME);
        if (tracepoints.contains(record.event())) {
            if (stack.sample >= 0) {
                putInto(stack.sample, stack, record.event());
            }
            stack.count = 0;
            stack.sample = -1;
        }
        return true;
    }

    /** Puts the stack into the sample at a place of the merged records, if it belongs there. */
    private void putInto(long start, Pending stack, int event) {
        long header = to.get(JAVA_LONG_UNALIGNED, start);
        int size = (int) (header >>> 48);
        long between = to.get(JAVA_LONG_UNALIGNED, start + TIME) - stack.time;
        long known = to.get(JAVA_LONG_UNALIGNED, start + CHAIN);
        int more = 8 * (1 + stack.count);
        boolean fits = known >= 0 && known <= (size - CHAIN - 8) / 8 && size + more <= MOST_RECORD;
        if (to.get(JAVA_INT_UNALIGNED, start + TID) != stack.tid
                || Math.abs(between) > MOST_NANOS
                || !fits) {
            return;
        }
        if (stack.count == 0) {
            if (stack.end == UserStackEnd.IN_EXEC) {
                stacks.count(event, stack.end, stack.pid, 0);
                stack.end = UserStackEnd.OUTERMOST;
            }
            return;
        }
        long time = to.get(JAVA_LONG_UNALIGNED, start + TIME);
        boolean isCode = stacks.nameRunTimes(stack.pid, time, stack.frames, stack.count);
        if (isCode && known == 0 && to.get(JAVA_LONG_UNALIGNED, start + IP) >= 0) {
            to.set(JAVA_LONG_UNALIGNED, start + IP, stack.frames[0]); // perf's rows are of this one
        }
        long place = start + CHAIN + 8 + 8 * known;
        MemorySegment.copy(to, place, to, place + more, used - place);
        used += more;
        for (Pending other : pending.values()) {
            other.sample += other.sample > start ? more : 0;
        }
        to.set(JAVA_LONG_UNALIGNED, start, header & 0xffff_ffff_ffffL | (long) (size + more) << 48);
        to.set(JAVA_LONG_UNALIGNED, start + CHAIN, known + 1 + stack.count);
        to.set(JAVA_LONG_UNALIGNED, place, PerfAbi.PERF_CONTEXT_USER);
        MemorySegment.copy(stack.frames, 0, to, JAVA_LONG_UNALIGNED, place + 8, stack.count);
        stacks.count(event, stack.end, stack.pid, stack.frames[stack.count - 1]);
        stack.count = 0;
    }

    /**
     * Whether a record is a tracepoint's sample whose stack comes next.
     *
     * @param identifier of the record
     */
    boolean comesBeforeItsStack(long identifier) {
        Integer number = numbers.get(identifier);
        return number != null && tracepoints.contains(number);
    }

    void close() {
        arena.close();
    }
}
