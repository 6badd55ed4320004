package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_COMM;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_EXIT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_FORK;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_KSYMBOL;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MISC_COMM_EXEC;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MISC_MMAP_BUILD_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MMAP;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MMAP2;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CPU;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IDENTIFIER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STREAM_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TIME;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import sonde.recording.GrowableBytes;

/**
 * Makes the records that the kernel would have made, had the recorder run earlier: mappings, names
 * and parents of what existed before the rings were armed. Each ends in the sample_id fields that
 * its attr asks for.
 */
public final class PerfRecords {
    /** PATH_MAX of include/uapi/linux/limits.h; more would not fit the record's u16 size. */
    private static final int MAX_NAME_BYTES = 4096;

    private final PerfAttr attr;

    /** Makes records in the layout of this attr, usually the one of the dummy event. */
    public PerfRecords(PerfAttr attr) {
        this.attr = attr;
    }

    /**
     * The sample_id fields of a record.
     *
     * @param time in the clock of the attr; 0 lets perf take the record before all others
     * @param id of the descriptor it counts for
     * @param cpu where it happened
     */
    public record SampleId(int pid, int tid, long time, long id, int cpu) {}

    /**
     * A mapping.
     *
     * @param start address as running
     * @param sizeBytes of the mapping
     * @param pageOffset offset in the file, bytes; for the kernel the address of {@code _text}
     * @param path the file, or {@code "[kernel.kallsyms]_text"}, {@code "[vdso]"}, {@code "//anon"}
     */
    public record MmapRecord(
            int pid, int tid, long start, long sizeBytes, long pageOffset, String path) {}

    /** PERF_RECORD_MMAP; {@code misc} PERF_RECORD_MISC_KERNEL or _USER, | _MMAP_DATA for data. */
    public byte[] mmap(SampleId stamp, int misc, MmapRecord mapping) {
        GrowableBytes out = begin(PERF_RECORD_MMAP, misc);
        return end(name(place(out, mapping), mapping.path()), stamp);
    }

    /**
     * PERF_RECORD_MMAP2 with the file's identity.
     *
     * @param protection PROT_* of mmap(2)
     * @param mapFlags MAP_* of mmap(2)
     */
    public byte[] mmap2(
            SampleId stamp,
            int misc,
            MmapRecord mapping,
            int major,
            int minor,
            long inode,
            int protection,
            int mapFlags) {
        GrowableBytes out = place(begin(PERF_RECORD_MMAP2, misc), mapping);
        out.u32(major).u32(minor).u64(inode).u64(0).u32(protection).u32(mapFlags);
        return end(name(out, mapping.path()), stamp);
    }

    /** PERF_RECORD_MMAP2 with the file's build id, hexadecimal (PERF_RECORD_MISC_MMAP_BUILD_ID). */
    public byte[] mmap2(
            SampleId stamp,
            int misc,
            MmapRecord mapping,
            String buildId,
            int protection,
            int mapFlags) {
        byte[] id = HexFormat.of().parseHex(buildId);
        GrowableBytes out =
                place(begin(PERF_RECORD_MMAP2, misc | PERF_RECORD_MISC_MMAP_BUILD_ID), mapping);
        out.u8(id.length).u8(0).u16(0).raw(java.util.Arrays.copyOf(id, BuildId.MAX_BYTES));
        out.u32(protection).u32(mapFlags);
        return end(name(out, mapping.path()), stamp);
    }

    /** PERF_RECORD_COMM; {@code exec} when the name came by execve(2). */
    public byte[] comm(SampleId stamp, int pid, int tid, String comm, boolean exec) {
        GrowableBytes out = begin(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
        return end(name(out.u32(pid).u32(tid), comm), stamp);
    }

    /** PERF_RECORD_FORK: {@code tid} of {@code pid} was made by {@code parentTid}. */
    public byte[] fork(SampleId stamp, int pid, int parentPid, int tid, int parentTid) {
        return task(PERF_RECORD_FORK, stamp, pid, parentPid, tid, parentTid);
    }

    /** PERF_RECORD_EXIT. */
    public byte[] exit(SampleId stamp, int pid, int parentPid, int tid, int parentTid) {
        return task(PERF_RECORD_EXIT, stamp, pid, parentPid, tid, parentTid);
    }

    /**
     * PERF_RECORD_KSYMBOL.
     *
     * @param kind PERF_RECORD_KSYMBOL_TYPE_*: 1 a BPF program, 2 out-of-line code
     * @param symbolFlags 1 when it was removed
     */
    public byte[] ksymbol(
            SampleId stamp, long address, int sizeBytes, int kind, int symbolFlags, String symbol) {
        GrowableBytes out = begin(PERF_RECORD_KSYMBOL, 0);
        out.u64(address).u32(sizeBytes).u16(kind).u16(symbolFlags);
        return end(name(out, symbol), stamp);
    }

    /**
     * A record of any type.
     *
     * @param body what stands between header and sample_id, a multiple of 8 bytes
     */
    public byte[] record(SampleId stamp, int type, int misc, byte[] body) {
        return end(begin(type, misc).raw(body), stamp);
    }

    private byte[] task(int type, SampleId stamp, int pid, int parent, int tid, int parentTid) {
        GrowableBytes out = begin(type, 0).u32(pid).u32(parent).u32(tid).u32(parentTid);
        return end(out.u64(stamp.time()), stamp);
    }

    private static GrowableBytes begin(int type, int misc) {
        return GrowableBytes.littleEndian().u32(type).u16(misc).u16(0);
    }

    private static GrowableBytes place(GrowableBytes out, MmapRecord mapping) {
        return out.u32(mapping.pid())
                .u32(mapping.tid())
                .u64(mapping.start())
                .u64(mapping.sizeBytes())
                .u64(mapping.pageOffset());
    }

    private static GrowableBytes name(GrowableBytes out, String text) {
        if (text.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
            throw new IllegalArgumentException("a name of " + text.length() + " characters");
        }
        return out.paddedText(text, 8);
    }

    /** struct sample_id of PERF_RECORD_MMAP's comment in perf_event.h, then the size. */
    private byte[] end(GrowableBytes out, SampleId stamp) {
        if (attr.sampleIdAll()) {
            if (attr.samples(PERF_SAMPLE_TID)) {
                out.u32(stamp.pid()).u32(stamp.tid());
            }
            if (attr.samples(PERF_SAMPLE_TIME)) {
                out.u64(stamp.time());
            }
            if (attr.samples(PERF_SAMPLE_ID)) {
                out.u64(stamp.id());
            }
            if (attr.samples(PERF_SAMPLE_STREAM_ID)) {
                out.u64(stamp.id());
            }
            if (attr.samples(PERF_SAMPLE_CPU)) {
                out.u32(stamp.cpu()).u32(0);
            }
            if (attr.samples(PERF_SAMPLE_IDENTIFIER)) {
                out.u64(stamp.id());
            }
        }
        out.put(6, 2, out.size());
        return out.toBytes();
    }
}
