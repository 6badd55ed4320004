package sonde.recording.tracedat;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.recording.ftrace.PageLayout;

/** What the parsers collect while they walk a file. */
final class TraceDatContent {
    private static final int MOST_NOTES = 100;

    final ByteOrder order;

    /** For messages: the file. */
    final String name;

    byte[] headerPage = new byte[0];
    byte[] headerEvent = new byte[0];

    /** Size of the recorder's long; of the kernel's too where header_page is empty (2.6.30). */
    int userLongBytes = Long.BYTES;

    final List<byte[]> ftraceFormats = new ArrayList<>();
    final SortedMap<String, List<byte[]>> eventFormats = new TreeMap<>();
    byte[] kallsyms = new byte[0];
    byte[] printk = new byte[0];
    byte[] cmdlines = new byte[0];
    byte[] latencyText = new byte[0];
    byte[] procMaps = new byte[0];
    byte[] btf = new byte[0];
    byte[] modules = new byte[0];
    int cpuCount;
    final List<byte[]> cpuStats = new ArrayList<>();
    String clock = "[local]";
    String uname = "";
    String version = "";
    long traceId;
    long timeOffset;
    TimeCorrection correction = TimeCorrection.NONE;
    final List<GuestOption> guests = new ArrayList<>();
    final List<String> hooks = new ArrayList<>();
    final Map<String, String> lastBoots = new TreeMap<>();
    final List<BufferArea> areas = new ArrayList<>();
    final List<String> buffers = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    /**
     * Sub-buffers of one CPU.
     *
     * @param buffer name of the instance
     * @param compression of the pages; {@link TraceDatCompression#NONE} when they lie there as they
     *     are
     * @param sizeBytes that are there
     * @param missingBytes that should be there too
     */
    record BufferArea(
            String buffer,
            Clock clock,
            int pageBytes,
            int cpu,
            Input input,
            long offset,
            long sizeBytes,
            long missingBytes,
            TraceDatCompression compression) {}

    TraceDatContent(ByteOrder order, String name) {
        this.order = order;
        this.name = name;
    }

    void buffer(String buffer) {
        if (!buffers.contains(buffer)) {
            buffers.add(buffer);
        }
    }

    /** A sentence about the file, which it names. */
    void note(String text) {
        String whole = name + ": " + text;
        if (notes.size() < MOST_NOTES && !notes.contains(whole)) {
            notes.add(whole);
        }
    }

    List<String> notes() {
        return List.copyOf(notes);
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

    /** How the kernel's pages begin. */
    PageLayout layout() throws MalformedInputException {
        return headerPage.length == 0
                ? PageLayout.old(order, userLongBytes == 4 ? 4 : 8)
                : PageLayout.parse(headerPage, order);
    }

    static String text(byte[] bytes) {
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
