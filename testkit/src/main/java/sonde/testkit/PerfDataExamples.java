package sonde.testkit;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import sonde.testkit.PerfDataBytes.Fields;

/** Files with something of everything. */
public final class PerfDataExamples {
    /** IP TID TIME ADDR ID STREAM_ID CPU PERIOD IDENTIFIER. */
    public static final long PLAIN = 1 | 2 | 4 | 8 | 64 | 512 | 128 | 256 | 1L << 16;

    public static final long EVERY_BIT = (1L << 25) - 1 & ~(1L << 14);
    public static final long SAMPLE_ID_ALL = 1L << 18;
    public static final long READ_GROUP = 0b11111;
    public static final String FORMAT =
            """
            name: sched_example
            ID: 77
            format:
            	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
            	field:int common_pid;	offset:4;	size:4;	signed:1;

            	field:char comm[8];	offset:8;	size:8;	signed:0;

            print fmt: "comm=%s", REC->comm
            """;

    private PerfDataExamples() {}

    public static PerfDataBytes file(ByteOrder order) {
        PerfDataBytes file = new PerfDataBytes(order);
        file.event(file.attr(1, 0, EVERY_BIT, READ_GROUP, SAMPLE_ID_ALL), 11, 12);
        file.event(file.attr(2, 77, PLAIN | 1 << 10, 0, SAMPLE_ID_ALL), 21, 22);
        file.feature(1, tracingData(file));
        file.feature(3, file.headerString("box"));
        file.feature(
                11,
                file.fields()
                        .u32(2)
                        .raw(file.headerString("/bin/perf"))
                        .raw(file.headerString("record"))
                        .toArray());
        file.feature(21, file.fields().u64(5, 9).toArray());
        file.feature(29, file.fields().u32(1).u32(1).u64(1_000, 2_000).toArray());
        return file;
    }

    private static byte[] tracingData(PerfDataBytes file) {
        byte[] format = FORMAT.getBytes(StandardCharsets.UTF_8);
        boolean big = file.fields().u16(1).toArray()[1] == 1;
        Fields out = file.fields();
        out.u8(23).u8(8).u8(68).raw("tracing".getBytes(StandardCharsets.US_ASCII));
        out.text("0.6", 4).u8(big ? 1 : 0).u8(8).u32(4096);
        out.text("header_page", 12).u64(0).text("header_event", 13).u64(0);
        out.u32(0).u32(1).text("sched", 6).u32(1).u64(format.length).raw(format);
        return out.u32(0).u32(0).u64(0).toArray();
    }

    /** A sample of the first event with every part there is. */
    public static Fields everyPart(PerfDataBytes file, long id, long time) {
        Fields body = head(file, id, time);
        body.u64(2, 100, 90); // READ: nr, time_enabled, time_running
        body.u64(7, 11, 0).u64(8, 21, 1); // value, id, lost of each
        body.u64(3, -128, 0xffffffff81000001L, 0x400002); // CALLCHAIN
        body.u32(12).u32(0xabcd).u64(1); // RAW, 4 + 12 bytes
        body.u64(1, 5).u64(0x10, 0x20, 0); // BRANCH_STACK with hw_idx
        body.u64(2).u64(1, 2, 3); // REGS_USER: abi 64, three registers
        body.u64(16).u64(1, 2).u64(8); // STACK_USER: size, bytes, size that was there
        body.u64(5, 6, 7); // WEIGHT_STRUCT, DATA_SRC, TRANSACTION
        body.u64(1).u64(8, 9); // REGS_INTR: abi 32, two registers
        body.u64(0x1000, 99, 4096, 4096); // PHYS_ADDR, CGROUP, page sizes
        return body;
    }

    /** With AUX, which ends every part. */
    public static Fields whole(PerfDataBytes file, long id, long time) {
        // Bits in the order of the layout: AUX (bit 20) comes last.
        return everyPart(file, id, time).u64(8).u64(0x77);
    }

    /** IDENTIFIER to PERIOD. */
    public static Fields head(PerfDataBytes file, long id, long time) {
        Fields body = file.fields();
        body.u64(id); // IDENTIFIER
        body.u64(0x400001); // IP
        body.u32(100).u32(101); // TID: pid, tid
        body.u64(time);
        body.u64(0xdead); // ADDR
        body.u64(id, id); // ID, STREAM_ID
        body.u32(3).u32(0); // CPU
        return body.u64(999); // PERIOD
    }

    public static Fields tracepoint(PerfDataBytes file, long id, long time) {
        Fields body = head(file, id, time);
        body.u32(20); // RAW
        return body.u16(77).u16(0).u32(101).text("abc", 8).u32(0);
    }

    /** The sample_id fields of other records. */
    public static Fields trailer(Fields body, int pid, int tid, long time, long id) {
        body.u32(pid).u32(tid).u64(time).u64(id, id);
        return body.u32(2).u32(0).u64(id);
    }
}
