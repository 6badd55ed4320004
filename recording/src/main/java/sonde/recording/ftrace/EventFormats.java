package sonde.recording.ftrace;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.event.EventType;

/**
 * The format files that a recording has from its kernel, and what belongs to them.
 *
 * @param order of the payloads
 * @param longBytes of the kernel
 * @param headerPage empty for one as kernels have it today
 * @param formats in their order, of systems in theirs
 */
public record EventFormats(
        ByteOrder order,
        int longBytes,
        byte[] headerPage,
        byte[] headerEvent,
        List<FormatFile> formats,
        byte[] kallsyms,
        byte[] printk) {
    /** A format file. */
    public record FormatFile(String system, EventFormat event, byte[] text) {}

    /** Those of a kernel of this machine, without any format. */
    public static final EventFormats NONE =
            new EventFormats(
                    ByteOrder.nativeOrder(),
                    8,
                    headerPage(8, 4096),
                    headerEventText(),
                    List.of(),
                    new byte[0],
                    new byte[0]);

    public EventFormats {
        headerPage = headerPage.length == 0 ? headerPage(longBytes, 4096) : headerPage;
    }

    /** The format files of a recording by system; those that cannot be parsed are left out. */
    public static List<FormatFile> parse(Map<String, List<byte[]>> files, int longBytes) {
        List<FormatFile> formats = new ArrayList<>();
        files.forEach((system, texts) ->
                texts.forEach(text -> {
                    try {
                        EventFormat event = EventFormat.parse(text, longBytes);
                        formats.add(new FormatFile(system, event, text));
                    } catch (MalformedInputException e) {
                        // The reader has told of it: events of this kind are notice:unknown.
                        return;
                    }
                }));
        return formats;
    }

    /** What texts of its events need besides the events. */
    public TextContext textContext() {
        PageLayout layout = new PageLayout(order, longBytes, 8 + longBytes);
        return TextContext.of(layout, kallsyms, printk);
    }

    /** By {@code system:name}, the first of a name. */
    public Map<String, FormatFile> byName() {
        Map<String, FormatFile> named = new HashMap<>();
        for (FormatFile format : formats) {
            named.putIfAbsent(format.system + ":" + format.event.name(), format);
        }
        return named;
    }

    /** Whether rows of a type are payloads of that format. */
    public static boolean fits(FormatFile format, EventType type) {
        return format.event.fields().equals(type.fields());
    }

    /** The files by system. */
    public static Map<String, List<byte[]>> bySystem(List<FormatFile> formats) {
        Map<String, List<byte[]>> systems = new LinkedHashMap<>();
        for (FormatFile format : formats) {
            systems.computeIfAbsent(format.system, added -> new ArrayList<>()).add(format.text);
        }
        return systems;
    }

    /**
     * tracefs {@code events/header_page} of a kernel with that long and sub-buffers of that size.
     */
    public static byte[] headerPage(int longBytes, int pageBytes) {
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
