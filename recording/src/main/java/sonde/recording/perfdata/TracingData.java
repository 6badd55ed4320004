package sonde.recording.perfdata;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.recording.GrowableBytes;
import sonde.recording.ftrace.EventFormats;

/**
 * The formats of tracepoints in a perf.data (feature HEADER_TRACING_DATA): the start of a trace.dat
 * of version "0.6", as tools/perf/util/trace-event-info.c writes it.
 *
 * @param longBytes size of {@code long} on the traced machine
 * @param pageBytes page size of the traced machine
 * @param headerPage text of tracefs events/header_page
 * @param headerEvent text of tracefs events/header_event
 * @param formats of the tracepoints used
 * @param kallsyms text of /proc/kallsyms, or empty
 * @param printk text of tracefs printk_formats, or empty
 * @param cmdlines text of tracefs saved_cmdlines, or empty
 */
public record TracingData(
        int longBytes,
        int pageBytes,
        String headerPage,
        String headerEvent,
        List<TracingFormat> formats,
        String kallsyms,
        String printk,
        String cmdlines) {

    /**
     * The format of one event.
     *
     * @param system directory under tracefs events/
     * @param text of its {@code format} file
     */
    public record TracingFormat(String system, String text) {}

    public TracingData {
        formats = List.copyOf(formats);
    }

    /** With formats alone: page size of this machine, no kallsyms, no printk formats. */
    public static TracingData of(
            String headerPage, String headerEvent, List<TracingFormat> formats) {
        return new TracingData(Long.BYTES, 4096, headerPage, headerEvent, formats, "", "", "");
    }

    /** With one more format. */
    public TracingData with(TracingFormat format) {
        List<TracingFormat> all = new ArrayList<>(formats);
        all.add(format);
        return new TracingData(
                longBytes, pageBytes, headerPage, headerEvent, all, kallsyms, printk, cmdlines);
    }

    /** The same as exports take it, of a machine with an order of bytes. */
    EventFormats kernelFormats(ByteOrder order) {
        Map<String, List<byte[]>> files = new LinkedHashMap<>();
        for (TracingFormat format : formats) {
            files.computeIfAbsent(format.system(), s -> new ArrayList<>())
                    .add(ascii(format.text()));
        }
        int known = longBytes == 4 ? 4 : 8;
        return new EventFormats(
                order,
                known,
                new byte[0],
                ascii(headerEvent),
                EventFormats.parse(files, known),
                ascii(kallsyms),
                ascii(printk));
    }

    /** The section as it lies in the file. */
    byte[] encode() {
        GrowableBytes out = GrowableBytes.littleEndian();
        out.u8(23).u8(8).u8(68).raw(ascii("tracing")).raw(ascii("0.6\0"));
        out.u8(ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? 1 : 0).u8(longBytes);
        out.u32(pageBytes);
        out.raw(ascii("header_page\0"));
        text64(out, headerPage);
        out.raw(ascii("header_event\0"));
        text64(out, headerEvent);
        Map<String, List<TracingFormat>> bySystem = new LinkedHashMap<>();
        for (TracingFormat format : formats) {
            bySystem.computeIfAbsent(format.system(), s -> new ArrayList<>()).add(format);
        }
        List<TracingFormat> ftrace = bySystem.getOrDefault("ftrace", List.of());
        bySystem.remove("ftrace");
        out.u32(ftrace.size());
        ftrace.forEach(format -> text64(out, format.text()));
        out.u32(bySystem.size());
        bySystem.forEach((system, of) -> {
            out.raw(ascii(system + "\0"));
            out.u32(of.size());
            of.forEach(format -> text64(out, format.text()));
        });
        text32(out, kallsyms);
        text32(out, printk);
        text64(out, cmdlines);
        return out.toBytes();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void text64(GrowableBytes out, String text) {
        byte[] bytes = ascii(text);
        out.u64(bytes.length).raw(bytes);
    }

    private static void text32(GrowableBytes out, String text) {
        byte[] bytes = ascii(text);
        out.u32(bytes.length).raw(bytes);
    }
}
