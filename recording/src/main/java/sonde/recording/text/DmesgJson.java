package sonde.recording.text;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Recording;
import sonde.recording.RowStore;
import sonde.recording.TypeBuilder;
import sonde.recording.json.JsonTree;

/**
 * The kernel's log as {@code dmesg --json} prints it (print_record of sys-utils/dmesg.c, util-linux
 * 2.38): an array {@code dmesg} of objects with {@code fac}, {@code pri}, {@code time}, {@code
 * caller} and {@code msg}. Rows are those of the text, a row for each message.
 */
public final class DmesgJson {
    private static final String FORMAT = "dmesg";

    private final RowStore store = new RowStore();
    private final EventType type =
            store.type(
                    new TypeBuilder("log", "printk")
                            .integer("level", 1, true)
                            .integer("facility", 4, true)
                            .text("text"));
    private final DmesgHead head = new DmesgHead();
    private boolean wall;
    private long time;

    private DmesgJson() {}

    /** Whether it begins with a log. */
    public static boolean isDmesg(Input input) {
        String head = JsonTree.head(input, 256).stripLeading();
        return head.replaceAll("\\s", "").startsWith("{\"dmesg\":[");
    }

    /**
     * Reads a file; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is no whole JSON
     */
    public static Recording open(Input input) throws IOException {
        JsonTree messages = JsonTree.read(FORMAT, input).at("dmesg");
        if (!messages.isArray()) {
            throw new MalformedInputException(FORMAT, "dmesg", -1, "no array");
        }
        DmesgJson reader = new DmesgJson();
        return reader.store.filled(() -> reader.read(messages));
    }

    private Recording read(JsonTree messages) {
        for (int i = 0; i < messages.size(); i++) {
            message(messages.at(i));
        }
        return store.recording("kernel log", wall ? Clock.REALTIME : Clock.LOCAL, List.of());
    }

    private void message(JsonTree message) {
        time(message.at("time"));
        // "T69" is a thread, "C1" a CPU outside of any (CONFIG_PRINTK_CALLER)
        String caller = message.text("caller");
        int number = caller.length() < 2 ? -1 : decimal(caller.substring(1));
        int cpu = caller.startsWith("C") ? Math.min(number, Short.MAX_VALUE) : -1;
        int tid = caller.startsWith("T") ? number : -1;
        List<Field> fields = type.fields();
        store.begin(time, cpu, tid, type)
                .integer(fields.get(0), code(message.at("pri"), DmesgHead.LEVELS))
                .integer(fields.get(1), code(message.at("fac"), DmesgHead.FACILITIES))
                .text(fields.get(2), message.text("msg"))
                .end();
    }

    /** Seconds since boot, or in words as {@code -T} and {@code --time-format} write it. */
    private void time(JsonTree stated) {
        double seconds = stated.isText() ? Double.NaN : stated.number(Double.NaN);
        if (Math.abs(seconds) < 9e9) {
            time = Math.round(seconds * 1e9);
            return;
        }
        for (String line : List.of(stated.text() + " ", "[" + stated.text() + "] ")) {
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            if (!stated.text().isEmpty() && head.parse(bytes, 0, bytes.length)) {
                time = head.timeAfter(time);
                wall |= head.kind == DmesgHead.Kind.WALL;
                return;
            }
        }
    }

    private static int code(JsonTree stated, String[] names) {
        int index = List.of(names).indexOf(stated.text());
        return index >= 0 ? index : decimal(stated.text());
    }

    private static int decimal(String text) {
        return text.matches("[0-9]{1,7}") ? Integer.parseInt(text) : -1;
    }
}
