package sonde.recording.text;

import java.util.Arrays;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.recording.TypeBuilder;

/** A text of perf script as a whole. */
final class PerfText extends TextModel {
    /** A name of a thread that changes on the way, as perf's own record tells it. */
    final EventType comm =
            schema.fixed(
                    new TypeBuilder(EventType.PERF_RECORD, "comm")
                            .integer("pid", 4, false)
                            .integer("tid", 4, false)
                            .integer("misc", 2, false)
                            .text("comm"));

    final EventType fork = schema.fixed(task("fork"));
    final EventType exit = schema.fixed(task("exit"));

    private static TypeBuilder task(String name) {
        return new TypeBuilder(EventType.PERF_RECORD, name)
                .integer("pid", 4, false)
                .integer("ppid", 4, false)
                .integer("tid", 4, false)
                .integer("ptid", 4, false)
                .integer("time", 8, false);
    }

    /** Samples of which the text does not say what of. */
    final LearntType samples = schema.shape("profile", "samples");

    /** Names of threads of which the text tells no number. */
    final ByteTable threads = new ByteTable(1 << 20);

    private long[] renamed = new long[16];
    private int renames;

    /** Whether a head has a time. */
    boolean timed;

    private String machine = "";

    /** Notes that the item at an offset has another name for its thread than before. */
    void renamedAt(long offset) {
        if (renames == renamed.length) {
            renamed = Arrays.copyOf(renamed, 2 * renames);
        }
        renamed[renames++] = offset;
    }

    /** Whether it has. */
    boolean isRenamed(long offset) {
        return renames > 0 && Arrays.binarySearch(renamed, 0, renames, offset) >= 0;
    }

    Field field(EventType type, int index) {
        return type.fields().get(index);
    }

    void machine(String name) {
        machine = name;
    }

    @Override
    String machine() {
        return machine;
    }

    @Override
    TextItems items(LineWindow lines) {
        return new PerfItems(this, lines);
    }

    @Override
    Clock clock() {
        return timed ? Clock.PERF : Clock.UNKNOWN;
    }
}
