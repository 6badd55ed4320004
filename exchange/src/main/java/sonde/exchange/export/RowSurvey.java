package sonde.exchange.export;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.event.StringField;

/** What rows there are: a first pass, for formats that say before the events what will come. */
final class RowSurvey {
    /** Highest CPU that is kept: twice what the kernel is built for (NR_CPUS). */
    static final int MOST_CPU = (1 << 14) - 1;

    /** Names kept; PID_MAX_LIMIT of the kernel. */
    private static final int MOST_NAMES = 1 << 22;

    /** What the rows of one type use. */
    static final class Usage {
        long rows;
        boolean pids;
        boolean weights;
        boolean stacks;
        boolean cpus;
        int mostBytes;
        int mostDepth;
    }

    private final Map<Source, Usage[]> usages = new IdentityHashMap<>();
    final SortedSet<Integer> cpus = new TreeSet<>();
    final Map<Integer, String> comms = new TreeMap<>();
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    long rows;

    /** A type whose rows tell names: the fields of the thread and of its name. */
    private record NameFields(IntegerField tid, StringField comm) {}

    static RowSurvey of(List<Recording> recordings) throws IOException {
        RowSurvey survey = new RowSurvey();
        for (Recording recording : recordings) {
            recording.threadNames().ifPresent(names -> names.forEach(survey.comms::putIfAbsent));
            for (Source source : recording.sources()) {
                survey.usages(source);
            }
        }
        for (Recording recording : recordings) {
            for (Lane lane : recording.lanes()) {
                try (lane) {
                    survey.lane(lane);
                }
            }
        }
        return survey;
    }

    private Usage[] usages(Source source) {
        return usages.computeIfAbsent(
                source,
                added -> {
                    Usage[] all = new Usage[added.types().size()];
                    for (int i = 0; i < all.length; i++) {
                        all[i] = new Usage();
                    }
                    return all;
                });
    }

    /** How the rows of a type are. */
    Usage usage(Source source, EventType type) {
        return usages(source)[type.id()];
    }

    /** The CPU that a row is put on: unknown ones are put on the first. */
    static int cpu(int cpu) {
        return cpu < 0 || cpu > MOST_CPU ? 0 : cpu;
    }

    private void lane(Lane lane) throws IOException {
        Usage[] of = usages(lane.source());
        List<List<NameFields>> lessons =
                lane.source().types().stream().map(RowSurvey::lessons).toList();
        for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
            for (int row = 0; row < batch.size(); row++) {
                Usage usage = of[batch.type(row)];
                usage.rows++;
                usage.pids |= batch.pid(row) >= 0;
                usage.weights |= batch.weight(row) != 1;
                usage.stacks |= batch.stackDepth(row) > 0;
                usage.cpus |= batch.cpu(row) >= 0;
                usage.mostBytes = Math.max(usage.mostBytes, batch.payloadBytes(row));
                usage.mostDepth = Math.max(usage.mostDepth, batch.stackDepth(row));
                cpus.add(cpu(batch.cpu(row)));
                first = Math.min(first, batch.time(row));
                last = Math.max(last, batch.time(row));
                for (NameFields lesson : lessons.get(batch.type(row))) {
                    learn(lesson, batch, row);
                }
            }
            rows += batch.size();
        }
    }

    private void learn(NameFields lesson, Batch batch, int row) {
        int tid = (int) lesson.tid.of(batch, row);
        if (tid > 0 && tid < MOST_NAMES && !comms.containsKey(tid)) {
            String comm = lesson.comm.of(batch, row);
            if (!comm.isEmpty()) {
                comms.put(tid, comm);
            }
        }
    }

    private static List<NameFields> lessons(EventType type) {
        List<NameFields> lessons = new ArrayList<>();
        switch (type.qualifiedName()) {
            case "sched:sched_switch" -> {
                lesson(type, "prev_pid", "prev_comm", lessons);
                lesson(type, "next_pid", "next_comm", lessons);
            }
            case "sched:sched_wakeup", "sched:sched_wakeup_new" ->
                    lesson(type, "pid", "comm", lessons);
            case "perf_record:comm" -> lesson(type, "tid", "comm", lessons);
            default -> {
                lesson(type, "context.tid", "context.procname", lessons);
                lesson(type, "context.vtid", "context.procname", lessons);
            }
        }
        return lessons;
    }

    private static void lesson(EventType type, String tid, String comm, List<NameFields> lessons) {
        Field number = type.field(tid).filter(ExportRow::isInteger).orElse(null);
        Field name = type.field(comm).filter(Field::isText).orElse(null);
        if (number != null && name != null) {
            lessons.add(new NameFields(IntegerField.of(number), StringField.of(name)));
        }
    }

    /** {@code tid comm} lines, as tracefs has them in {@code saved_cmdlines}. */
    byte[] savedCmdlines() {
        StringBuilder lines = new StringBuilder();
        comms.forEach((tid, comm) -> {
            lines.append(tid.intValue()).append(' ');
            lines.append(comm.replaceAll("[\\n\\r\\x00]", "?")).append('\n');
        });
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }
}
