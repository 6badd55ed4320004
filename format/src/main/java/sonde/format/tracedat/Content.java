package sonde.format.tracedat;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import sonde.event.Clock;
import sonde.format.Input;

/** What the parsers collect while they walk a file. */
final class Content {
    final ByteOrder order;
    byte[] headerPage = new byte[0];
    byte[] headerEvent = new byte[0];
    final List<byte[]> ftraceFormats = new ArrayList<>();
    final SortedMap<String, List<byte[]>> eventFormats = new TreeMap<>();
    byte[] kallsyms = new byte[0];
    byte[] printk = new byte[0];
    byte[] cmdlines = new byte[0];
    byte[] latencyText = new byte[0];
    byte[] procMaps = new byte[0];
    int cpuCount;
    final List<byte[]> cpuStats = new ArrayList<>();
    String clock = "[local]";
    String uname = "";
    String version = "";
    long traceId;
    long timeOffset;
    final List<Area> areas = new ArrayList<>();
    final List<String> buffers = new ArrayList<>();
    final List<String> notes = new ArrayList<>();

    /**
     * Sub-buffers of one CPU.
     *
     * @param buffer name of the instance
     * @param compression of the pages; {@link Compression#NONE} when they lie there as they are
     */
    record Area(
            String buffer,
            Clock clock,
            int pageBytes,
            int cpu,
            Input input,
            long offset,
            long sizeBytes,
            Compression compression) {}

    Content(ByteOrder order) {
        this.order = order;
    }

    void buffer(String name) {
        if (!buffers.contains(name)) {
            buffers.add(name);
        }
    }

    TraceDatMetadata metadata() {
        return new TraceDatMetadata(
                headerPage,
                headerEvent,
                ftraceFormats,
                eventFormats,
                kallsyms,
                printk,
                cmdlines,
                cpuCount,
                cpuStats,
                clock,
                uname,
                traceId,
                version);
    }

    static String text(byte[] bytes) {
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
