package sonde.bpf;

import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R6;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.sys.SyscallException;

/**
 * Counts hits of tracepoints in the kernel, for all tasks or a {@link TaskTree}: the truth that
 * "recorded + lost" is compared with. Counting never drops; where the kernel skips a program
 * because another one is running on that CPU, {@link #missed} says how often.
 */
public final class TracepointCounter implements AutoCloseable {
    /**
     * What to count.
     *
     * @param otherTask field with the kernel pid of a second thread the event is about, which makes
     *     it count as well: {@code next_pid} of sched_switch, {@code pid} of sched_waking, as
     *     ftrace's set_event_pid does; null for the current thread alone
     */
    public record CounterTarget(String category, String name, @Nullable String otherTask) {
        /** Counts events of the current thread. */
        public CounterTarget(String category, String name) {
            this(category, name, null);
        }
    }

    private final List<CounterTarget> targets;
    private final BpfMap counts;
    private final List<Program> programs = new ArrayList<>();
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    private TracepointCounter(List<CounterTarget> targets, BpfMap counts) {
        this.targets = targets;
        this.counts = counts;
        parts.push(counts);
    }

    /**
     * Starts counting.
     *
     * @param tree whose tasks count; null for all tasks. Stays the caller's to close, later than
     *     this
     */
    public static TracepointCounter open(List<CounterTarget> targets, @Nullable TaskTree tree)
            throws IOException {
        MapSpec spec = new MapSpec("sonde_counts", MapType.ARRAY, 4, 8 * targets.size(), 1);
        TracepointCounter counter =
                new TracepointCounter(List.copyOf(targets), BpfMap.create(spec));
        try {
            for (int i = 0; i < targets.size(); i++) {
                counter.attach(i, targets.get(i), tree);
            }
            return counter;
        } catch (IOException e) {
            counter.close();
            throw e;
        }
    }

    private void attach(int index, CounterTarget target, @Nullable TaskTree tree)
            throws IOException {
        TracepointFormat tracepoint = TracepointFormat.of(target.category(), target.name());
        Label hit = new Label("hit");
        Label out = new Label("out");
        CodeBuilder code = new CodeBuilder().move(R6, R1);
        if (tree != null) {
            Label otherwise = new Label("otherwise");
            code.step("current thread");
            tree.filter(code, otherwise);
            code.jump(hit).at(otherwise);
            if (target.otherTask() != null) {
                code.step("other thread")
                        .load(Width.U32, R1, R6, tracepoint.offset(target.otherTask()))
                        .store(Width.U32, R10, TaskTree.KEY, R1);
                tree.filterKey(code, out);
            } else {
                code.jump(out);
            }
        }
        code.at(hit)
                .step("count")
                .mapValue(R1, counts.fd(), index * 8)
                .move(R2, 1)
                .atomicAdd(Width.U64, R1, 0, R2)
                .at(out)
                // 0 would take the event away from all perf events (trace_call_bpf).
                .exit(1);
        // Raw tracepoints are skipped only within themselves, those of perf within any program;
        // but system calls by name exist for perf alone, and fields stand only in its context.
        boolean raw = !target.category().equals("syscalls") && target.otherTask() == null;
        ProgramType type = raw ? ProgramType.RAW_TRACEPOINT : ProgramType.TRACEPOINT;
        Program program = Program.load("sonde_count", type, code.build());
        programs.add(program);
        parts.push(program);
        parts.push(
                raw
                        ? Link.rawTracepoint(program, target.name())
                        : Link.tracepoint(program, tracepoint));
    }

    /** Hits so far, in the order of the targets. */
    public long count(int target) throws SyscallException {
        return counts.word(8 * target);
    }

    /** Hits so far of a target by its name. */
    public long count(String name) throws SyscallException {
        for (int i = 0; i < targets.size(); i++) {
            if (targets.get(i).name().equals(name)) {
                return count(i);
            }
        }
        throw new IllegalArgumentException("not counted: " + name);
    }

    /** Hits of a target at which the kernel did not run the program (Linux 5.12; before that 0). */
    public long missed(int target) throws SyscallException {
        return programs.get(target).facts().missed();
    }

    /** Detaches and frees. */
    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
