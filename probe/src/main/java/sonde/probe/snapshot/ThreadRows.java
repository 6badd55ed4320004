package sonde.probe.snapshot;

import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_SAMPLE;

import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.recording.GrowableBytes;
import sonde.recording.perfdata.TracingData.TracingFormat;

/**
 * {@link ThreadNow} as a sample of a perf.data: an event {@code sonde:thread_now} in the form of a
 * tracepoint, whose format goes into the file, with the stacks as call chain.
 */
public final class ThreadRows {
    /** As perf names it. */
    public static final String EVENT = "sonde:thread_now";

    /** The highest number of an event (include/linux/trace_events.h); the kernel counts up. */
    public static final int ID = 65535;

    /** The mark of a row that was made at the end. */
    private static final int AT_END = 1;

    private static final int MOST_TEXT = 4096;
    private static final long CONTEXT_KERNEL = -128;
    private static final long CONTEXT_USER = -512;

    /** Where the texts begin. */
    private static final int TEXTS = 56;

    /** What perf.data carries of the event's fields. */
    public static final TracingFormat FORMAT =
            new TracingFormat(
                    "sonde",
                    """
                    name: thread_now
                    ID: 65535
                    format:
                    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
                    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
                    \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
                    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

                    \tfield:u64 since;\toffset:8;\tsize:8;\tsigned:0;
                    \tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;
                    \tfield:pid_t holder;\toffset:20;\tsize:4;\tsigned:1;
                    \tfield:int syscall;\toffset:24;\tsize:4;\tsigned:1;
                    \tfield:int at_end;\toffset:28;\tsize:4;\tsigned:1;
                    \tfield:char state[4];\toffset:32;\tsize:4;\tsigned:0;
                    \tfield:__data_loc char[] comm;\toffset:36;\tsize:4;\tsigned:0;
                    \tfield:__data_loc char[] call;\toffset:40;\tsize:4;\tsigned:0;
                    \tfield:__data_loc char[] object;\toffset:44;\tsize:4;\tsigned:0;
                    \tfield:__data_loc char[] wchan;\toffset:48;\tsize:4;\tsigned:0;

                    print fmt: "pid=%d comm=%s state=%s call=%s object=%s holder=%d wchan=%s \
                    since=%llu at_end=%d", REC->pid, __get_str(comm), REC->state, __get_str(call), \
                    __get_str(object), REC->holder, __get_str(wchan), REC->since, REC->at_end
                    """);

    private ThreadRows() {}

    /**
     * The record, in the layout of {@code PERF_SAMPLE_IDENTIFIER | IP | TID | TIME | CPU | PERIOD |
     * CALLCHAIN | RAW}.
     *
     * @param id of the event in the file
     * @param atNanos the time it gets
     */
    public static byte[] sample(ThreadNow now, long id, long atNanos, boolean atEnd) {
        GrowableBytes out = GrowableBytes.littleEndian();
        out.u32(PERF_RECORD_SAMPLE).u16(0).u16(0).u64(id);
        List<Long> kernel = now.kernelStack();
        List<Long> user = now.userStack();
        List<Long> first = kernel.isEmpty() ? user : kernel;
        out.u64(first.isEmpty() ? 0 : first.getFirst()).u32(now.pid()).u32(now.tid()).u64(atNanos);
        out.u32(now.cpu()).u32(0).u64(1);
        int entries = kernel.size() + user.size();
        entries += (kernel.isEmpty() ? 0 : 1) + (user.isEmpty() ? 0 : 1);
        out.u64(entries);
        chain(out, CONTEXT_KERNEL, kernel);
        chain(out, CONTEXT_USER, user);
        byte[] raw = raw(now, atEnd);
        int padded = (raw.length + 4 + 7 & ~7) - 4;
        out.u32(padded).raw(raw).raw(new byte[padded - raw.length]);
        out.put(6, 2, out.size());
        return out.toBytes();
    }

    private static void chain(GrowableBytes out, long context, List<Long> addresses) {
        if (!addresses.isEmpty()) {
            out.u64(context);
            addresses.forEach(out::u64);
        }
    }

    private static byte[] raw(ThreadNow now, boolean atEnd) {
        GrowableBytes out = GrowableBytes.littleEndian();
        out.u16(ID).u16(0).u32(now.tid()).u64(now.sinceNanos()).u32(now.pid()).u32(now.holder());
        out.u32(now.syscall()).u32(atEnd ? AT_END : 0).u8(now.state()).zeros(3);
        GrowableBytes texts = GrowableBytes.littleEndian();
        for (String text : List.of(now.comm(), now.call(), now.object(), now.wchan())) {
            byte[] bytes = text(text).getBytes(StandardCharsets.UTF_8);
            out.u32(TEXTS + texts.size() | bytes.length + 1 << 16);
            texts.raw(bytes).u8(0);
        }
        out.align(8);
        return out.raw(texts.toBytes()).toBytes();
    }

    /** Without control characters and not too long: a name may hold anything. */
    private static String text(String text) {
        String cut = text.length() > MOST_TEXT ? text.substring(0, MOST_TEXT) : text;
        return cut.replaceAll("\\p{Cntrl}", "?");
    }
}
