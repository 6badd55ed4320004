package sonde.analysis;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Source;
import sonde.event.StringField;

/** The lines of the kernel's log among the rows of a recording, by time. */
public final class LogLines implements Operator {
    private static final Set<String> SYSTEMS = Set.of("printk", "log", "dmesg", "kmsg");

    /** LTTng's name of printk:console. */
    private static final String LTTNG = "printk_console";

    private static final List<String> MESSAGES = List.of("msg", "message", "text", "buf");

    /** Takes lines. */
    @FunctionalInterface
    public interface LogSink {
        /**
         * What the kernel printed at once.
         *
         * @param cpu negative where it is not known
         * @param tid of the thread that was current; negative where it is not known
         */
        void line(long time, int cpu, int tid, String text);
    }

    private final SourceBindings<TypeSelection> bindings =
            new SourceBindings<>(source -> new TypeSelection(source).addAll(1, LogLines::isLog));
    private final LogSink sink;
    private final TimeWindow window;

    /**
     * @param window the time that counts
     */
    public LogLines(LogSink sink, TimeWindow window) {
        this.sink = sink;
        this.window = window;
    }

    /** Whether events of a type are lines of the kernel's log. */
    public static boolean isLog(EventType type) {
        return SYSTEMS.contains(type.system()) || type.name().equals(LTTNG);
    }

    /** The line of such an event; null where it has no text. */
    public static @Nullable String message(Batch batch, int row, EventType type) {
        for (String name : MESSAGES) {
            Field field = type.field(name).orElse(null);
            if (field != null && field.isText()) {
                return StringField.of(field).of(batch, row);
            }
        }
        return null;
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        for (int row = from; row < to; row++) {
            EventType type = batch.source().types().get(batch.type(row));
            String text = window.contains(batch.time(row)) ? message(batch, row, type) : null;
            if (text != null) {
                sink.line(batch.time(row), batch.cpu(row), batch.tid(row), text);
            }
        }
    }
}
