package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.FLAG_FREQ;
import static sonde.recording.perfdata.PerfAbi.HEADER_BYTES;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_GROUP;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_LOST;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_TOTAL_TIME_ENABLED;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_TOTAL_TIME_RUNNING;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_ADDR;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_AUX;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_BRANCH_COUNTERS;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_BRANCH_HW_INDEX;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_BRANCH_STACK;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CALLCHAIN;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CGROUP;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CODE_PAGE_SIZE;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CPU;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_DATA_PAGE_SIZE;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_DATA_SRC;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IDENTIFIER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IP;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_PERIOD;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_PHYS_ADDR;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_READ;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_REGS_INTR;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_REGS_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STACK_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STREAM_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TIME;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TRANSACTION;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_WEIGHT;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_WEIGHT_STRUCT;

/**
 * Where the parts of an attr's samples lie: the comment of PERF_RECORD_SAMPLE in
 * include/uapi/linux/perf_event.h (6.18). Parts up to the period have fixed places, then each
 * begins where the one before ends.
 */
final class SampleLayout {
    /** Bit of branch_sample_type that adds a counter word to each branch (6.8). */
    private static final long BRANCH_COUNTERS = PERF_SAMPLE_BRANCH_COUNTERS;

    private static final int BRANCH_ENTRY_BYTES = 24;

    private static final long WORDS_IN_ORDER =
            PERF_SAMPLE_IP
                    | PERF_SAMPLE_TID
                    | PERF_SAMPLE_TIME
                    | PERF_SAMPLE_ADDR
                    | PERF_SAMPLE_ID
                    | PERF_SAMPLE_STREAM_ID;

    private final PerfAttr attr;
    private final int ipAt;
    private final int tidAt;
    private final int timeAt;
    private final int cpuAt;
    private final int periodAt;
    private final int fixedBytes;
    private final int readEntryBytes;
    private final int readHeaderBytes;
    private final boolean readGroup;
    private final boolean read;
    private final boolean callchain;
    private final boolean raw;
    private final boolean more;
    private final long defaultWeight;
    private final int trailerBytes;
    private final int trailerTime;
    private final int trailerCpu;

    /** What {@link #locate} found in one sample. */
    static final class SampleOffsets {
        int pid;
        int tid;
        int cpu;
        long weight;
        long stack;
        int depth;
        long raw;
        int rawBytes;
        // Where the parts behind lie; only those that the attr asks for are set.
        long read;
        long branches;
        long branchCount;
        long userRegs;
        long userStack;
        int userStackBytes;
        long weights;
        long dataSource;
        long transaction;
        long intrRegs;
        long physAddr;
        long cgroup;
        long dataPage;
        long codePage;
        long aux;
        int auxBytes;
    }

    SampleLayout(PerfAttr attr) {
        this.attr = attr;
        int at = HEADER_BYTES;
        at += bytes(PERF_SAMPLE_IDENTIFIER);
        ipAt = place(PERF_SAMPLE_IP, at);
        at += bytes(PERF_SAMPLE_IP);
        tidAt = place(PERF_SAMPLE_TID, at);
        at += bytes(PERF_SAMPLE_TID);
        timeAt = place(PERF_SAMPLE_TIME, at);
        at += bytes(PERF_SAMPLE_TIME);
        at += bytes(PERF_SAMPLE_ADDR) + bytes(PERF_SAMPLE_ID) + bytes(PERF_SAMPLE_STREAM_ID);
        cpuAt = place(PERF_SAMPLE_CPU, at);
        at += bytes(PERF_SAMPLE_CPU);
        periodAt = place(PERF_SAMPLE_PERIOD, at);
        fixedBytes = at + bytes(PERF_SAMPLE_PERIOD);
        long format = attr.readFormat();
        read = attr.samples(PERF_SAMPLE_READ);
        readGroup = (format & PERF_FORMAT_GROUP) != 0;
        int perEntry = 1 + Long.bitCount(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
        int times =
                Long.bitCount(
                        format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
        readEntryBytes = 8 * perEntry;
        readHeaderBytes = 8 * times;
        callchain = attr.samples(PERF_SAMPLE_CALLCHAIN);
        raw = attr.samples(PERF_SAMPLE_RAW);
        more = (attr.sampleType() & ~upToRaw()) != 0;
        defaultWeight = attr.has(FLAG_FREQ) ? 1 : Math.max(1, attr.samplePeriod());
        trailerBytes = attr.sampleIdBytes();
        trailerTime = attr.samples(PERF_SAMPLE_TIME) ? trailerBytes - bytes(PERF_SAMPLE_TID) : 0;
        trailerCpu = attr.samples(PERF_SAMPLE_CPU) ? 8 + bytes(PERF_SAMPLE_IDENTIFIER) : 0;
    }

    private static long upToRaw() {
        return PERF_SAMPLE_IDENTIFIER
                | PERF_SAMPLE_IP
                | PERF_SAMPLE_TID
                | PERF_SAMPLE_TIME
                | PERF_SAMPLE_ADDR
                | PERF_SAMPLE_ID
                | PERF_SAMPLE_STREAM_ID
                | PERF_SAMPLE_CPU
                | PERF_SAMPLE_PERIOD
                | PERF_SAMPLE_READ
                | PERF_SAMPLE_CALLCHAIN
                | PERF_SAMPLE_RAW;
    }

    private int bytes(long bit) {
        return attr.samples(bit) ? 8 : 0;
    }

    private int place(long bit, int at) {
        return attr.samples(bit) ? at : -1;
    }

    /** Offset of the word of a part that stands before the period; -1 when it is not there. */
    static int wordAt(PerfAttr attr, long bit) {
        long before = attr.sampleType() & (bit - 1) & WORDS_IN_ORDER;
        // CPU has a lower bit than STREAM_ID and stands behind it.
        before &= bit == PERF_SAMPLE_STREAM_ID ? ~PERF_SAMPLE_CPU : -1;
        int identifier = attr.samples(PERF_SAMPLE_IDENTIFIER) ? 8 : 0;
        return attr.samples(bit) ? HEADER_BYTES + identifier + 8 * Long.bitCount(before) : -1;
    }

    /** Offset of the id in samples, -1 when they have none. */
    static int idAt(PerfAttr attr) {
        if (attr.samples(PERF_SAMPLE_IDENTIFIER)) {
            return HEADER_BYTES;
        }
        long before = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
        return attr.samples(PERF_SAMPLE_ID)
                ? HEADER_BYTES + 8 * Long.bitCount(attr.sampleType() & before)
                : -1;
    }

    /** Offset of the id in other records counted back from their end, 0 when they have none. */
    static int idFromEnd(PerfAttr attr) {
        if (!attr.sampleIdAll()) {
            return 0;
        }
        if (attr.samples(PERF_SAMPLE_IDENTIFIER)) {
            return 8;
        }
        long behind = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
        return attr.samples(PERF_SAMPLE_ID) ? 8 + 8 * Long.bitCount(attr.sampleType() & behind) : 0;
    }

    /** Time of a sample, -1 when it has none or is too short. */
    long time(PerfView view, long at, int size) {
        return timeAt >= 0 && size >= timeAt + 8 ? view.u64(at + timeAt) : -1;
    }

    /** Bytes of the sample_id fields at the end of other records. */
    int trailerBytes() {
        return trailerBytes;
    }

    /** Time of another record whose trailer ends at {@code end}, -1 when it has none. */
    long trailerTime(PerfView view, long end) {
        return trailerTime == 0 ? -1 : view.u64(end - trailerTime);
    }

    /** CPU of another record, -1 when its trailer does not tell. */
    int trailerCpu(PerfView view, long end) {
        return trailerCpu == 0 || trailerBytes == 0 ? -1 : view.u32(end - trailerCpu);
    }

    /** Whether the trailer begins with u32 pid, u32 tid. */
    boolean trailerHasTid() {
        return trailerBytes != 0 && tidAt >= 0;
    }

    /**
     * Finds the parts of the sample of {@code size} bytes at {@code at}.
     *
     * @return false when it does not hold what its attr says
     */
    boolean locate(PerfView view, long at, int size, SampleOffsets places) {
        long end = at + size;
        if (size < fixedBytes) {
            return false;
        }
        places.pid = tidAt < 0 ? -1 : view.u32(at + tidAt);
        places.tid = tidAt < 0 ? -1 : view.u32(at + tidAt + 4);
        places.cpu = cpuAt < 0 ? -1 : view.u32(at + cpuAt);
        places.weight = periodAt < 0 ? defaultWeight : view.u64(at + periodAt);
        places.stack = ipAt < 0 ? at : at + ipAt;
        places.depth = ipAt < 0 ? 0 : 1;
        places.raw = at;
        places.rawBytes = 0;
        long next = at + fixedBytes;
        if (read) {
            places.read = next;
            next = afterRead(view, next, end);
        }
        if (callchain && next >= 0) {
            next = chain(view, next, end, places);
        }
        if (raw && next >= 0) {
            next = raw(view, next, end, places);
        }
        if (more && next >= 0) {
            next = afterRest(view, next, end, places);
        }
        return next >= 0 && next <= end;
    }

    /** How many counters a located sample reads; each has its value and, if asked for, its id. */
    int readings(PerfView view, SampleOffsets places) {
        // What one batch holds; a record of 64 KiB has room for fewer.
        return readGroup ? Math.clamp(view.u64(places.read), 0, 1 << 13) : 1;
    }

    /** Where the value of a reading lies. */
    long valueAt(SampleOffsets places, int index) {
        return places.read + (readGroup ? 8 + readHeaderBytes + (long) index * readEntryBytes : 0);
    }

    /** Where the id of a reading lies, if ids were asked for. */
    long readIdAt(SampleOffsets places, int index) {
        return valueAt(places, index) + 8 + (readGroup ? 0 : readHeaderBytes);
    }

    private long afterRead(PerfView view, long next, long end) {
        if (!readGroup) {
            return next + readHeaderBytes + readEntryBytes;
        }
        long count = count(view, next, end);
        return array(next + 8 + readHeaderBytes, count, readEntryBytes, end);
    }

    private static long chain(PerfView view, long next, long end, SampleOffsets places) {
        long count = count(view, next, end);
        long after = array(next + 8, count, 8, end);
        if (after >= 0 && count > 0) {
            places.stack = next + 8;
            places.depth = (int) count;
        }
        return after;
    }

    private static long raw(PerfView view, long next, long end, SampleOffsets places) {
        if (end - next < 4) {
            return -1;
        }
        long count = view.u32(next) & 0xffff_ffffL;
        long after = array(next + 4, count, 1, end);
        if (after >= 0) {
            places.raw = next + 4;
            places.rawBytes = (int) count;
        }
        return after;
    }

    /** The parts behind RAW, which no column shows: they must fit, too. */
    private long afterRest(PerfView view, long start, long end, SampleOffsets places) {
        long next = start;
        if (attr.samples(PERF_SAMPLE_BRANCH_STACK)) {
            next = afterBranches(view, next, end, places);
        }
        if (attr.samples(PERF_SAMPLE_REGS_USER)) {
            places.userRegs = next;
            next = afterRegisters(view, next, end, attr.sampleRegsUser());
        }
        if (attr.samples(PERF_SAMPLE_STACK_USER) && next >= 0) {
            next = afterStack(view, next, end, places);
        }
        if (next < 0) {
            return -1;
        }
        places.weights = next;
        places.dataSource = next + ((attr.sampleType() & weights()) == 0 ? 0 : 8);
        places.transaction = places.dataSource + bytes(PERF_SAMPLE_DATA_SRC);
        next = places.transaction + bytes(PERF_SAMPLE_TRANSACTION);
        if (attr.samples(PERF_SAMPLE_REGS_INTR)) {
            places.intrRegs = next;
            next = afterRegisters(view, next, end, attr.sampleRegsIntr());
        }
        if (next < 0) {
            return -1;
        }
        places.physAddr = next;
        places.cgroup = next + bytes(PERF_SAMPLE_PHYS_ADDR);
        places.dataPage = places.cgroup + bytes(PERF_SAMPLE_CGROUP);
        places.codePage = places.dataPage + bytes(PERF_SAMPLE_DATA_PAGE_SIZE);
        next = places.codePage + bytes(PERF_SAMPLE_CODE_PAGE_SIZE);
        if (attr.samples(PERF_SAMPLE_AUX)) {
            long count = count(view, next, end);
            places.aux = next + 8;
            places.auxBytes = (int) count;
            next = array(next + 8, count, 1, end);
        }
        return next;
    }

    /** u64 size, the bytes, and when there are any, how many of them are the stack's. */
    private static long afterStack(PerfView view, long next, long end, SampleOffsets places) {
        long count = count(view, next, end);
        long after = array(next + 8, count, 1, end);
        places.userStack = next + 8;
        places.userStackBytes = 0;
        if (after < 0 || count == 0) {
            return after;
        }
        if (end - after >= 8) {
            places.userStackBytes = (int) Math.clamp(view.u64(after), 0, count);
        }
        return after + 8;
    }

    private static long weights() {
        return PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
    }

    private long afterBranches(PerfView view, long next, long end, SampleOffsets places) {
        if (next < 0) {
            return -1;
        }
        long count = count(view, next, end);
        long branches = attr.branchSampleType();
        long first = next + ((branches & PERF_SAMPLE_BRANCH_HW_INDEX) != 0 ? 16 : 8);
        int entry = BRANCH_ENTRY_BYTES + ((branches & BRANCH_COUNTERS) != 0 ? 8 : 0);
        places.branches = next;
        places.branchCount = count;
        return array(first, count, entry, end);
    }

    /** u64 ABI; when it is not 0 (none), a word for each register asked for. */
    private static long afterRegisters(PerfView view, long next, long end, long registers) {
        long abi = next < 0 ? -1 : count(view, next, end);
        if (abi < 0) {
            return -1;
        }
        return next + 8 + (abi == 0 ? 0 : 8L * Long.bitCount(registers));
    }

    /** The u64 at {@code next}; -1 when it is not in the record or cannot be a count. */
    private static long count(PerfView view, long next, long end) {
        return end - next < 8 ? -1 : Math.max(-1, view.u64(next));
    }

    private static long array(long first, long count, int entryBytes, long end) {
        if (count < 0 || first > end || count > (end - first) / entryBytes) {
            return -1;
        }
        return first + count * entryBytes;
    }
}
