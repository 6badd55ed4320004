package sonde.format.export;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.format.MalformedInputException;
import sonde.format.ftrace.EventFormat;
import sonde.format.ftrace.PageLayout;
import sonde.format.perfdata.PerfDataRecording;
import sonde.format.perfdata.TracingData;
import sonde.format.tracedat.TraceDatMetadata;
import sonde.format.tracedat.TraceDatRecording;

/**
 * The format files that a recording has from its kernel, and what belongs to them.
 *
 * @param order of the payloads
 * @param longBytes of the kernel
 * @param formats in their order, of systems in theirs
 */
record KernelFormats(
        ByteOrder order,
        int longBytes,
        byte[] headerPage,
        byte[] headerEvent,
        List<Format> formats,
        byte[] kallsyms,
        byte[] printk) {
    /** A format file. */
    record Format(String system, EventFormat event, byte[] text) {}

    /** Those of a kernel of this machine, without any format. */
    static final KernelFormats NONE =
            new KernelFormats(
                    ByteOrder.nativeOrder(),
                    8,
                    headerPage(8, 4096),
                    headerEventText(),
                    List.of(),
                    new byte[0],
                    new byte[0]);

    /** What a recording has; null when it has none. */
    static @Nullable KernelFormats of(Recording recording) {
        return switch (recording) {
            case TraceDatRecording trace -> of(trace);
            case PerfDataRecording perf ->
                    perf.features().tracingData().map(data -> of(perf.order(), data)).orElse(null);
            default -> null;
        };
    }

    private static KernelFormats of(TraceDatRecording trace) {
        TraceDatMetadata metadata = trace.metadata();
        PageLayout layout = trace.table().layout();
        int longBytes = layout.commitBytes();
        List<Format> formats = new ArrayList<>();
        metadata.ftraceFormats().forEach(text -> add("ftrace", text, longBytes, formats));
        metadata.eventFormats()
                .forEach((system, texts) ->
                        texts.forEach(text -> add(system, text, longBytes, formats)));
        boolean old = layout.old() || metadata.headerPage().length == 0;
        return new KernelFormats(
                layout.order(),
                longBytes,
                old ? headerPage(longBytes, 4096) : metadata.headerPage(),
                metadata.headerEvent(),
                formats,
                metadata.kallsyms(),
                metadata.printk());
    }

    private static KernelFormats of(ByteOrder order, TracingData data) {
        int longBytes = data.longBytes() == 4 ? 4 : 8;
        List<Format> formats = new ArrayList<>();
        for (TracingData.Format one : data.formats()) {
            add(one.system(), one.text().getBytes(StandardCharsets.UTF_8), longBytes, formats);
        }
        return new KernelFormats(
                order,
                longBytes,
                headerPage(longBytes, 4096),
                data.headerEvent().getBytes(StandardCharsets.UTF_8),
                formats,
                data.kallsyms().getBytes(StandardCharsets.UTF_8),
                data.printk().getBytes(StandardCharsets.UTF_8));
    }

    private static void add(String system, byte[] text, int longBytes, List<Format> formats) {
        try {
            formats.add(new Format(system, EventFormat.parse(text, longBytes), text));
        } catch (MalformedInputException e) {
            // The reader has told of it: events of this kind are notice:unknown.
            return;
        }
    }

    /** By {@code system:name}, the first of a name. */
    Map<String, Format> byName() {
        Map<String, Format> named = new HashMap<>();
        for (Format format : formats) {
            named.putIfAbsent(format.system + ":" + format.event.name(), format);
        }
        return named;
    }

    /** Whether rows of a type are payloads of that format. */
    static boolean fits(Format format, EventType type) {
        return format.event.fields().equals(type.fields());
    }

    /** The files by system. */
    static Map<String, List<byte[]>> bySystem(List<Format> formats) {
        Map<String, List<byte[]>> systems = new LinkedHashMap<>();
        for (Format format : formats) {
            systems.computeIfAbsent(format.system, added -> new ArrayList<>()).add(format.text);
        }
        return systems;
    }

    /**
     * tracefs {@code events/header_page} of a kernel with that long and sub-buffers of that size.
     */
    static byte[] headerPage(int longBytes, int pageBytes) {
        int data = 8 + longBytes;
        String text =
                "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                        + "\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n"
                        + "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                        + "\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:1;\n";
        return text.formatted(longBytes, data, pageBytes - data)
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** tracefs {@code events/header_event}. */
    private static byte[] headerEventText() {
        return """
        # compressed entry header
        \ttype_len    :    5 bits
        \ttime_delta  :   27 bits
        \tarray       :   32 bits

        \tpadding     : type == 29
        \ttime_extend : type == 30
        \ttime_stamp : type == 31
        \tdata max type_len  == 28
        """
                .getBytes(StandardCharsets.US_ASCII);
    }
}
