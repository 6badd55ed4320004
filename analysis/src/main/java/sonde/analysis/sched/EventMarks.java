package sonde.analysis.sched;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.TypeSelection;
import sonde.analysis.stack.SampleTypes;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/**
 * Single events, to be shown as marks: signals, programs started, what a user asked for by name.
 * Those from which the states of threads, system calls and I/O are made are no marks.
 */
public final class EventMarks implements Operator {
    /** Marks of a type: more are thinned out by leaving out every second. */
    private static final int MOST_MARKS = 2000;

    private static final int MOST_TYPES = 60;

    private static final Set<String> SYSTEMS =
            Set.of(
                    EventType.NOTICE,
                    EventType.PERF_RECORD,
                    "raw_syscalls",
                    "syscalls",
                    "block",
                    "irq",
                    "power",
                    "timer",
                    "slice",
                    "counter",
                    "trace",
                    "packet");

    private static final Set<String> SCHEDULING =
            Set.of(
                    "sched_process_exec",
                    "sched_process_fork",
                    "sched_process_exit",
                    "sched_process_hang");

    private final ThreadTable threads;
    private final TimeWindow window;
    private final MarkText text;
    private final Map<String, TypeMarks> types = new TreeMap<>();
    private final SourceBindings<TypeSelection> bindings =
            new SourceBindings<>(source -> new TypeSelection(source).addAll(1, EventMarks::isMark));

    /** Says what an event has to tell. */
    @FunctionalInterface
    public interface MarkText {
        /** The text of a row. */
        String of(Batch batch, int row);
    }

    /** The marks of a type, by time. */
    public static final class TypeMarks {
        private final List<EventMark> marks = new ArrayList<>();
        private long count;
        private int stride = 1;

        private TypeMarks() {}

        /** The marks that are kept. */
        public List<EventMark> marks() {
            return marks;
        }

        /** The number of all events. */
        public long count() {
            return count;
        }

        private void thin() {
            for (int i = 0; 2 * i < marks.size(); i++) {
                marks.set(i, marks.get(2 * i));
            }
            marks.subList((marks.size() + 1) / 2, marks.size()).clear();
            stride *= 2;
        }
    }

    /** An event; the thread is -1 when none is known. */
    public record EventMark(long time, int thread, String text) {}

    /**
     * @param window the time that counts
     */
    public EventMarks(ThreadTable threads, TimeWindow window, MarkText text) {
        this.threads = threads;
        this.window = window;
        this.text = text;
    }

    private static boolean isMark(EventType type) {
        return !SYSTEMS.contains(type.system())
                && !SampleTypes.isSample(type)
                && !type.qualifiedName().startsWith("ftrace:func")
                && !type.name().startsWith("syscall_e")
                && (!(type.system().equals("sched") || type.name().startsWith("sched_"))
                        || SCHEDULING.contains(type.name()));
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        for (int row = from; row < to; row++) {
            long time = batch.time(row);
            int thread = threads.find(batch.tid(row));
            boolean counts = thread < 0 ? threads.countsNobody() : threads.counts(thread, time);
            if (counts && window.contains(time)) {
                EventType type = batch.source().types().get(batch.type(row));
                TypeMarks marks = types.get(type.qualifiedName());
                if (marks == null && types.size() < MOST_TYPES) {
                    marks = new TypeMarks();
                    types.put(type.qualifiedName(), marks);
                }
                if (marks != null) {
                    add(marks, batch, row, thread);
                }
            }
        }
    }

    private void add(TypeMarks marks, Batch batch, int row, int thread) {
        if (marks.count++ % marks.stride != 0) {
            return;
        }
        if (marks.marks.size() == MOST_MARKS) {
            marks.thin();
            if ((marks.count - 1) % marks.stride != 0) {
                return;
            }
        }
        marks.marks.add(new EventMark(batch.time(row), thread, text.of(batch, row)));
    }

    /** The marks by qualified name of their type. */
    public Map<String, TypeMarks> types() {
        return types;
    }
}
