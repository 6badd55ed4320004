package sonde.probe.perf;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CALLCHAIN;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STACK_USER;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.PerfAbi;
import sonde.recording.perfdata.PerfAttr;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * Shortens samples that carry a copy of the user stack. System-wide events copy it of every
 * process, and nobody asked for other programs' memory. Behind the part that could be copied
 * (dyn_size) the kernel leaves what was in the ring before, also of other programs
 * (perf_output_sample_ustack, Linux 6.18).
 */
final class CopiedStacks {
    /** Offset of the call chain: header, identifier, ip, tid, time, cpu, period. */
    private static final int FIRST = 56;

    private static final int PID = 24;
    private static final int MOST_ANCESTORS = 1000;
    private static final Pattern PARENT = Pattern.compile("(?m)^PPid:\\s+(\\d{1,9})$");

    private final boolean all;
    private final Set<Integer> own = ConcurrentHashMap.newKeySet();
    private final Set<Integer> others = ConcurrentHashMap.newKeySet();
    private final Map<Long, PerfAttr> withStack = new HashMap<>();

    /**
     * @param roots the processes that are recorded with their descendants; empty for all
     * @param events all events of the rings
     */
    CopiedStacks(Collection<Integer> roots, List<AttrEntry> events) {
        this.all = roots.isEmpty();
        own.addAll(roots);
        for (AttrEntry event : events) {
            if ((event.attr().sampleType() & PERF_SAMPLE_STACK_USER) != 0) {
                for (long id : event.ids()) {
                    withStack.put(id, event.attr());
                }
            }
        }
    }

    /** Takes another process in; by any thread. */
    void follow(int pid) {
        own.add(pid);
        others.remove(pid);
    }

    /** A PERF_RECORD_FORK: the kernel writes it before the child runs. */
    void forked(int pid, int parent, int tid) {
        if (all || pid != tid) {
            return;
        }
        boolean ours = own.contains(parent) || isOwn(parent);
        (ours ? own : others).add(pid);
        (ours ? others : own).remove(pid);
    }

    /** Where a FORK was lost, /proc knows the parents of those that live. */
    private boolean isOwn(int pid) {
        if (all || own.contains(pid) || others.contains(pid)) {
            return all || own.contains(pid);
        }
        Set<Integer> line = new HashSet<>();
        int at = pid;
        while (at > 1 && !own.contains(at) && !others.contains(at)) {
            if (!line.add(at) || line.size() > MOST_ANCESTORS) {
                break;
            }
            at = parent(at);
        }
        boolean ours = own.contains(at);
        (ours ? own : others).addAll(line);
        return ours;
    }

    private static int parent(int pid) {
        try {
            byte[] status = FileCalls.readAll("/proc/" + pid + "/status", 1 << 16);
            Matcher parent = PARENT.matcher(new String(status, StandardCharsets.UTF_8));
            return parent.find() ? Integer.parseInt(parent.group(1)) : 0;
        } catch (SyscallException e) {
            return 0; // it has ended
        }
    }

    /**
     * Shortens records in place.
     *
     * @return what is left of them
     */
    MemorySegment strip(MemorySegment records) {
        long from = 0;
        long to = 0;
        while (from + PerfAbi.HEADER_BYTES <= records.byteSize()) {
            long header = records.get(JAVA_LONG_UNALIGNED, from);
            long size = header >>> 48;
            if (size < PerfAbi.HEADER_BYTES || from + size > records.byteSize()) {
                break;
            }
            long kept = kept(records.asSlice(from, size), header);
            MemorySegment.copy(records, from, records, to, kept);
            from += size;
            to += kept;
        }
        return records.asSlice(0, to);
    }

    /** How many bytes of a record stay; its end is written anew where that is fewer. */
    private long kept(MemorySegment record, long header) {
        long size = record.byteSize();
        PerfAttr attr =
                (int) header == PerfAbi.PERF_RECORD_SAMPLE && size >= FIRST
                        ? withStack.get(record.get(JAVA_LONG_UNALIGNED, 8))
                        : null;
        if (attr == null) {
            return size;
        }
        long at = FIRST;
        if ((attr.sampleType() & PERF_SAMPLE_CALLCHAIN) != 0 && at + 8 <= size) {
            at += 8 + 8 * Math.min(record.get(JAVA_LONG_UNALIGNED, at), size); // u64 nr, ips
        }
        if ((attr.sampleType() & PERF_SAMPLE_RAW) != 0 && at >= 0 && at + 4 <= size) {
            at += 4 + Integer.toUnsignedLong(record.get(JAVA_INT_UNALIGNED, at)); // u32 size, data
        }
        if (at < FIRST || at + 16 > size) {
            return 0;
        }
        if (!isOwn(record.get(JAVA_INT_UNALIGNED, PID))) {
            // u64 abi, u64 size: none, as of kernel threads.
            record.set(JAVA_LONG_UNALIGNED, at, 0);
            record.set(JAVA_LONG_UNALIGNED, at + 8, 0);
            return ended(record, header, at + 16);
        }
        long abi = record.get(JAVA_LONG_UNALIGNED, at);
        at += 8 + (abi == 0 ? 0 : 8L * Long.bitCount(attr.sampleRegsUser()));
        return at + 8 > size ? 0 : cut(record, header, at);
    }

    /** Cuts the copy at {@code at} behind its last byte: u64 size, bytes, u64 dyn_size. */
    private static long cut(MemorySegment record, long header, long at) {
        long room = record.get(JAVA_LONG_UNALIGNED, at);
        if (room == 0) {
            return record.byteSize();
        }
        if (room < 0 || at + 16 + room > record.byteSize()) {
            return 0;
        }
        long copied = Math.clamp(record.get(JAVA_LONG_UNALIGNED, at + 8 + room), 0, room);
        long rounded = copied + 7 & -8;
        record.asSlice(at + 8 + copied, rounded - copied).fill((byte) 0);
        record.set(JAVA_LONG_UNALIGNED, at, rounded);
        if (rounded == 0) {
            return ended(record, header, at + 8);
        }
        record.set(JAVA_LONG_UNALIGNED, at + 8 + rounded, copied);
        return ended(record, header, at + 16 + rounded);
    }

    private static long ended(MemorySegment record, long header, long size) {
        record.set(JAVA_LONG_UNALIGNED, 0, header & 0xffff_ffff_ffffL | size << 48);
        return size;
    }
}
