package sonde.recording.perfdata;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;
import sonde.recording.perfdata.TracingData.TracingFormat;

/** Reads what {@link TracingData#encode} writes (tools/perf/util/trace-event-read.c). */
final class TracingDataReader {
    private static final int MOST_EVENTS = 1 << 16;
    // "\27\10\104tracing"
    private static final byte[] MAGIC = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
    private static final int MOST_TEXT = 1 << 26;

    private final FieldCursor in;

    private TracingDataReader(FieldCursor in) {
        this.in = in;
    }

    static TracingData read(MemorySegment content) throws MalformedInputException {
        FieldCursor start = new FieldCursor("tracing data", content, ByteOrder.LITTLE_ENDIAN);
        if (!java.util.Arrays.equals(start.bytes("magic", MAGIC.length), MAGIC)) {
            throw start.malformed("magic", "something else");
        }
        String version = start.text("version", 16);
        boolean big = start.u8("endian") == 1;
        ByteOrder order = big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        FieldCursor rest = new FieldCursor("tracing data", content, order);
        rest.seek("long size", start.position());
        return new TracingDataReader(rest).body(version);
    }

    private TracingData body(String version) throws MalformedInputException {
        int longBytes = in.u8("long size");
        int pageBytes = in.s32("page size");
        String headerPage = named("header_page");
        String headerEvent = named("header_event");
        List<TracingFormat> formats = new ArrayList<>();
        formats("ftrace", formats);
        int systems = in.bounded("systems", in.u32("systems"), MOST_EVENTS);
        for (int i = 0; i < systems; i++) {
            formats(in.text("system", 256), formats);
        }
        String kallsyms = text(in.u32("kallsyms size"), "kallsyms");
        String printk = text(in.u32("printk size"), "printk");
        // Version 0.6 (3.19) appended saved_cmdlines; "0.5" and digits alone before.
        boolean saved = version.compareTo("0.6") >= 0 && in.remaining() >= 8;
        String cmdlines = saved ? text(in.u64("cmdlines size"), "cmdlines") : "";
        return new TracingData(
                longBytes, pageBytes, headerPage, headerEvent, formats, kallsyms, printk, cmdlines);
    }

    private String named(String expected) throws MalformedInputException {
        String name = in.text(expected, 64);
        if (!name.equals(expected)) {
            throw in.malformed(expected, name);
        }
        return text(in.u64(expected + " size"), expected);
    }

    private void formats(String system, List<TracingFormat> formats)
            throws MalformedInputException {
        int count = in.bounded("events", in.u32("events"), MOST_EVENTS - formats.size());
        for (int i = 0; i < count; i++) {
            formats.add(new TracingFormat(system, text(in.u64("format size"), "format")));
        }
    }

    private String text(long size, String field) throws MalformedInputException {
        byte[] bytes = in.bytes(field, in.bounded(field, size, MOST_TEXT));
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
