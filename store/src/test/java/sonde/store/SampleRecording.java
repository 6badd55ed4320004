package sonde.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.BatchWriter;
import sonde.recording.TypeBuilder;

/**
 * Two CPUs on which two threads take turns, made by rule: every 1000 ns a switch from 10 to 11 or
 * back, and inside each turn a system call of 100 ns.
 */
final class SampleRecording implements Recording {
    final List<EventType> types = new ArrayList<>();
    final Source source;
    final int turns;

    /** How often lanes were asked for: how often the recording was read. */
    final AtomicInteger readings = new AtomicInteger();

    SampleRecording(int turns) {
        this.turns = turns;
        add(
                new TypeBuilder("sched", "sched_switch")
                        .text("prev_comm")
                        .integer("prev_pid", 4, true)
                        .integer("prev_state", 8, true)
                        .text("next_comm")
                        .integer("next_pid", 4, true));
        add(new TypeBuilder("raw_syscalls", "sys_enter").integer("id", 8, true));
        add(
                new TypeBuilder("raw_syscalls", "sys_exit")
                        .integer("id", 8, true)
                        .integer("ret", 8, true));
        add(
                new TypeBuilder("app", "odd")
                        .integer("ts", 8, false)
                        .integer("Big", 8, false)
                        .real("ratio")
                        .text("text"));
        add(new TypeBuilder(EventType.NOTICE, "lost"));
        source = new Source("sample", Clock.MONO, types);
    }

    private void add(TypeBuilder builder) {
        types.add(builder.build(types.size()));
    }

    @Override
    public List<Source> sources() {
        return List.of(source);
    }

    @Override
    public List<Lane> lanes() {
        readings.incrementAndGet();
        return List.of(new Turns(0), new Turns(1));
    }

    @Override
    public void close() {}

    private final class Turns implements Lane {
        private final int cpu;
        private int turn;

        Turns(int cpu) {
            this.cpu = cpu;
        }

        @Override
        public Source source() {
            return source;
        }

        @Override
        public String buffer() {
            return "";
        }

        @Override
        public @Nullable Batch next() {
            if (turn == turns) {
                return null;
            }
            BatchWriter out = new BatchWriter(source);
            for (int i = 0; i < 300 && turn < turns; i++, turn++) {
                write(out, 1_000_000 + 1000L * turn);
            }
            return out.batch();
        }

        private void write(BatchWriter out, long time) {
            int first = 10 + 10 * cpu;
            int from = first + turn % 2;
            int to = first + (turn + 1) % 2;
            EventType switched = types.get(0);
            out.begin(time, cpu, from, switched);
            out.text(switched.fields().get(0), "t" + from);
            out.integer(switched.fields().get(1), from);
            out.integer(switched.fields().get(2), turn % 4 < 2 ? 1 : 2);
            out.text(switched.fields().get(3), "thread number " + to);
            out.integer(switched.fields().get(4), to);
            out.end();
            out.begin(time + 200, cpu, to, types.get(1));
            out.integer(types.get(1).fields().get(0), 1);
            out.end();
            out.begin(time + 300, cpu, to, types.get(2));
            out.integer(types.get(2).fields().get(0), 1);
            out.integer(types.get(2).fields().get(1), -11);
            out.end();
            if (cpu == 1 && turn == 0) {
                EventType odd = types.get(3);
                out.begin(time + 400, cpu, to, odd);
                out.integer(odd.fields().get(0), 7);
                out.integer(odd.fields().get(1), -1);
                out.real(odd.fields().get(2), 0.5);
                out.text(odd.fields().get(3), "grün");
                out.end();
            }
        }

        @Override
        public void close() {}
    }
}
