package sonde.recording.perfdata;

import sonde.event.Batch;
import sonde.event.IntegerField;
import sonde.event.StringField;
import sonde.recording.ftrace.TextBuffer;

/** Writes counts as {@code perf script} does (process_stat of builtin-script.c, 6.1). */
final class StatText {
    private static final String HEAD = "%3s %8s %15s %15s %15s %15s %s%n";
    private final int type;
    private final StringField name = StringField.of(StatCounters.FIELDS.get(2));
    private final IntegerField count = IntegerField.of(StatCounters.FIELDS.get(4));
    private final IntegerField enabled = IntegerField.of(StatCounters.FIELDS.get(5));
    private final IntegerField running = IntegerField.of(StatCounters.FIELDS.get(6));
    private boolean begun;

    StatText(PerfDataRecording recording) {
        type = recording.types().ofCounters();
    }

    /** Whether the recording has any: they are one table whatever fields are asked for. */
    boolean exist() {
        return type >= 0;
    }

    boolean writes(int rowType) {
        return rowType == type && type >= 0;
    }

    void append(TextBuffer out, Batch batch, int row) {
        if (!begun) {
            out.put(String.format(HEAD, "CPU", "THREAD", "VAL", "ENA", "RUN", "TIME", "EVENT"));
            begun = true;
        }
        int start = out.size();
        out.decimal(batch.cpu(row)).pad(start, 3, false).put(' ');
        start = out.size();
        out.decimal(batch.tid(row)).pad(start, 8, false).put(' ');
        for (long value :
                new long[] {
                    count.of(batch, row),
                    enabled.of(batch, row),
                    running.of(batch, row),
                    batch.time(row)
                }) {
            start = out.size();
            out.unsigned(value).pad(start, 15, false).put(' ');
        }
        out.put(name.of(batch, row)).put('\n');
    }
}
