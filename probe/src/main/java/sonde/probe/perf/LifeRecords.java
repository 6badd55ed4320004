package sonde.probe.perf;

import static sonde.recording.perfdata.PerfAbi.HEADER_BYTES;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_COMM;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_EXIT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_FORK;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_KSYMBOL;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MISC_COMM_EXEC;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MMAP2;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;
import sonde.probe.perf.LifeRecord.ExitedRecord;
import sonde.recording.ftrace.MappedBuildId;
import sonde.symbol.CodeMapping;

/**
 * Reads perf's records of the life of processes (include/uapi/linux/perf_event.h, enum
 * perf_event_type), each of which ends with a sample_id: u32 pid, tid; u64 time; u32 cpu, reserved;
 * u64 identifier. What is too short for its type is left out.
 */
final class LifeRecords {
    private static final int SAMPLE_ID_BYTES = 32;
    private static final byte[] NONE = {};

    /** PERF_RECORD_MISC_MMAP_DATA: not to be executed. */
    private static final int MISC_DATA = 1 << 13;

    private static final int KSYMBOL_UNREGISTERED = 1;

    private final Consumer<LifeRecord> out;

    LifeRecords(Consumer<LifeRecord> out) {
        this.out = out;
    }

    /** Reads whole records. */
    void read(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        int at = 0;
        while (bytes.length - at >= HEADER_BYTES) {
            int size = in.getShort(at + 6) & 0xffff;
            if (size < HEADER_BYTES || size > bytes.length - at) {
                return;
            }
            if (size >= HEADER_BYTES + SAMPLE_ID_BYTES) {
                one(in, at, size - SAMPLE_ID_BYTES);
            }
            at += size;
        }
    }

    private void one(ByteBuffer in, int at, int size) {
        int misc = in.getShort(at + 4) & 0xffff;
        long time = in.getLong(at + size + 8);
        switch (in.getInt(at)) {
            // u32 pid, ppid, tid, ptid; u64 time
            case PERF_RECORD_FORK -> {
                if (size >= 24) {
                    out.accept(new LifeRecord.Forked(time, in.getInt(at + 8), in.getInt(at + 12)));
                }
            }
            case PERF_RECORD_EXIT -> {
                if (size >= 24 && in.getInt(at + 8) == in.getInt(at + 16)) {
                    out.accept(new ExitedRecord(time, in.getInt(at + 8)));
                }
            }
            // u32 pid, tid; the name
            case PERF_RECORD_COMM -> {
                if (size >= 16 && (misc & PERF_RECORD_MISC_COMM_EXEC) != 0) {
                    out.accept(new LifeRecord.Execed(time, in.getInt(at + 8)));
                }
            }
            case PERF_RECORD_MMAP2 -> {
                if (size >= 72 && (misc & MISC_DATA) == 0) {
                    mapped(in, at, size, misc, time);
                }
            }
            // u64 address; u32 length; u16 kind, flags; the name
            case PERF_RECORD_KSYMBOL -> {
                if (size >= 24 && (in.getShort(at + 22) & KSYMBOL_UNREGISTERED) == 0) {
                    out.accept(
                            new LifeRecord.KernelSymbol(
                                    time,
                                    0,
                                    in.getLong(at + 8),
                                    in.getInt(at + 16) & 0xffff_ffffL,
                                    text(in, at + 24, at + size)));
                }
            }
            default -> {}
        }
    }

    /**
     * u32 pid, tid; u64 address, length, offset; u32 major, minor, u64 inode, generation or u8
     * bytes of the build id, 3 reserved, 20 of it; u32 protection, flags; the path.
     */
    private void mapped(ByteBuffer in, int at, int size, int misc, long time) {
        byte[] buildId = NONE;
        long device = 0;
        long inode = 0;
        if (MappedBuildId.isIn(misc, in.array(), at + 40)) {
            int length = in.get(at + 40);
            buildId = Arrays.copyOfRange(in.array(), at + 44, at + 44 + length);
        } else {
            device = (long) in.getInt(at + 40) << 32 | in.getInt(at + 44) & 0xffff_ffffL;
            inode = in.getLong(at + 48);
        }
        out.accept(
                new LifeRecord.Mapped(
                        time,
                        in.getInt(at + 8),
                        new CodeMapping(
                                in.getLong(at + 16),
                                in.getLong(at + 24),
                                in.getLong(at + 32),
                                text(in, at + 72, at + size),
                                buildId,
                                device,
                                inode)));
    }

    private static String text(ByteBuffer in, int from, int end) {
        int to = from;
        while (to < end && in.get(to) != 0) {
            to++;
        }
        return new String(in.array(), from, to - from, StandardCharsets.UTF_8);
    }
}
