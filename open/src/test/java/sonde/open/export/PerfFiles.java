package sonde.open.export;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.PerfDataBytes.Fields;

/** A perf.data with a counter's samples, a tracepoint's, and records. */
final class PerfFiles {
    private static final String FORMAT =
            """
            name: sched_example
            ID: 77
            format:
            	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
            	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
            	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
            	field:int common_pid;	offset:4;	size:4;	signed:1;

            	field:char comm[8];	offset:8;	size:8;	signed:0;
            	field:__data_loc u32[] words;	offset:16;	size:4;	signed:0;

            print fmt: "comm=%s", REC->comm
            """;

    private static final long IP = 1;
    private static final long TID = 2;
    private static final long TIME = 4;
    private static final long CALLCHAIN = 1 << 5;
    private static final long ID = 1 << 6;
    private static final long CPU = 1 << 7;
    private static final long PERIOD = 1 << 8;
    private static final long RAW = 1 << 10;

    private PerfFiles() {}

    static byte[] example(ByteOrder order) {
        PerfDataBytes file = new PerfDataBytes(order);
        long both = IP | TID | TIME | ID | CPU | PERIOD;
        file.event(file.attr(0, 0, both | CALLCHAIN, 0, 1L << 18), 11);
        file.event(file.attr(2, 77, both | RAW, 0, 1L << 18), 21);
        file.feature(1, tracingData(file));
        file.feature(3, file.headerString("box"));
        Fields comm = file.fields().u32(7).u32(8).text("cat", 8);
        file.record(3, 0, trailer(comm, 90));
        Fields sample = file.fields().u64(0x401000).u32(7).u32(8).u64(100, 11);
        sample.u32(1).u32(0).u64(4000);
        file.record(9, 2, sample.u64(3, -512, 0x401000, 0x402000));
        Fields traced = file.fields().u64(0).u32(7).u32(8).u64(200, 21).u32(1).u32(0).u64(1);
        traced.u32(36).u16(77).u8(1).u8(2).u32(8).text("cat", 8).u32(8 << 16 | 20);
        file.record(9, 1, traced.u32(0x01020304).u32(5).u32(0).u32(0));
        Fields lost = file.fields().u64(21, 3);
        file.record(2, 0, trailer(lost, 300));
        return file.file();
    }

    /** TID TIME ID CPU of sample_id. */
    private static Fields trailer(Fields body, long time) {
        return body.u32(7).u32(8).u64(time, 11).u32(1).u32(0);
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
}
