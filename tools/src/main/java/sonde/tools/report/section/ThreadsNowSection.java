package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.analysis.sched.ThreadsNow;
import sonde.analysis.sched.ThreadsNow.ThreadLook;
import sonde.analysis.stack.CallTreeBuilder;
import sonde.event.result.CallTree;
import sonde.event.result.Frame;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.recording.bundle.JavaThreads.JavaThread;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** What each thread was in at the end of the recording, else at its beginning. */
final class ThreadsNowSection implements ReportSection {
    /** The looks of the recorder at threads. */
    static final AnalysisKey<ThreadsNow> LOOKS =
            new AnalysisKey<>(found -> found.add(new ThreadsNow(found.threads(), found.stacks())));

    /** Threads that a language's run time keeps for itself; names are cut after 15 bytes. */
    private static final Pattern RUN_TIME_THREAD =
            Pattern.compile(
                    "(G1|GC|ZDriver|ZWorker|ZDirector|Shenandoah|VM|C1|C2|Sweeper|XWorker).*"
                            + "|Reference Handl|Finalizer|Signal Dispatch|Service Thread"
                            + "|Monitor Deflati|Common-Cleaner|Notification Th|Attach Listener"
                            + "|JVMCI.*|Cleaner-\\d+|DestroyJavaVM|Java2D.*"
                            + "|V8Worker|node-V8Worker|libuv-worker|SignalInspector"
                            + "|DelayedTaskSche|tokio-runtime-w|iou-wrk-.*|iou-sqp-.*");

    private static final Pattern RUN_TIME_FUNCTION =
            Pattern.compile(
                    "runtime\\.(sysmon|notesleep|stopm|templateThread|mPark|findRunnable).*"
                            + "|node::(WorkerThreadsTaskRunner|.*DelayedTaskScheduler).*"
                            + "|.*uv__threadpool.*|worker_thread|.*StartIoThread.*");

    @Override
    public List<String> options() {
        return List.of("--threads-now");
    }

    @Override
    public String help() {
        return "show what each thread does at the end: call, object, holder, stacks";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(LOOKS);
    }

    @Override
    public boolean showsChains() {
        return true;
    }

    @Override
    public boolean explainsSymbols() {
        return true;
    }

    /** Threads that are in the same. */
    private record AlikeThreads(ThreadLook first, List<ThreadLook> all, boolean isRunTime) {}

    @Override
    public List<Result> results(ReportOperators found) {
        List<AlikeThreads> groups = groups(found);
        CallTree stacks = CallTreeBuilder.tree("stacks of threads now", Unit.COUNT);
        for (AlikeThreads group : groups) {
            if (group.first.stack() >= 0) {
                List<Frame> path = new ArrayList<>();
                path.add(Frame.label(name(found, group)));
                path.addAll(found.trees().chain(group.first.stack()));
                int count = group.all.size();
                CallTreeBuilder.add(stacks, OnCpuSection.inOrder(found, path), count, count);
            }
        }
        int limit = found.options().rows();
        List<Result> results = new ArrayList<>(List.of(table(found, groups, limit), stacks));
        Table java = JavaLocks.table(found, limit);
        if (!java.rows().isEmpty()) {
            results.add(1, java);
        }
        return results;
    }

    /** The rows for a summary: threads of the program first. */
    static Table top(ReportOperators found, int limit) {
        return table(found, groups(found), limit);
    }

    private static List<AlikeThreads> groups(ReportOperators found) {
        record Key(String name, int pid, char state, String call, String object, int stack) {}
        Map<Key, List<ThreadLook>> groups = new LinkedHashMap<>();
        for (ThreadLook look : found.of(LOOKS).looks()) {
            int thread = look.thread();
            if (found.shown(thread)) {
                Key key =
                        new Key(
                                found.threads().name(thread).replaceFirst("\\d+$", "*"),
                                found.threads().pid(thread),
                                look.state(),
                                alike(look.call()),
                                alike(String.valueOf(waitsFor(found, look))),
                                look.stack());
                groups.computeIfAbsent(key, _ -> new ArrayList<>()).add(look);
            }
        }
        List<AlikeThreads> all = new ArrayList<>();
        groups.values()
                .forEach(looks -> {
                    looks.sort(Comparator.comparingLong(ThreadLook::nanos).reversed());
                    ThreadLook first = looks.getFirst();
                    all.add(new AlikeThreads(first, looks, isRunTime(found, first)));
                });
        all.sort(
                Comparator.comparing(AlikeThreads::isRunTime)
                        .thenComparing(group -> !isStuck(group.first))
                        .thenComparing(group -> -group.first.nanos())
                        .thenComparing(group -> found.threads().tid(group.first.thread())));
        return all;
    }

    /** Without addresses: each thread of a pool has a futex of its own. */
    private static String alike(String text) {
        return text.replaceAll("futex.?0x\\w+", "futex");
    }

    private static boolean isStuck(ThreadLook look) {
        return look.isLocked() || look.state() == 'D' || look.state() == 'T';
    }

    private static boolean isRunTime(ReportOperators found, ThreadLook look) {
        if (RUN_TIME_THREAD.matcher(found.threads().name(look.thread())).matches()) {
            return true;
        }
        for (int at = look.stack(); at >= 0; at = found.stacks().parent(at)) {
            if (RUN_TIME_FUNCTION.matcher(found.trees().frame(at).name()).matches()) {
                return true;
            }
        }
        return false;
    }

    private static Table table(ReportOperators found, List<AlikeThreads> groups, int limit) {
        boolean atEnd = groups.stream().anyMatch(group -> group.first.atEnd());
        return new TableBuilder<AlikeThreads>(
                        "threads at the " + (atEnd ? "end" : "beginning") + " of the recording")
                .text("thread", group -> name(found, group))
                .text("state", group -> state(group.first.state()))
                .nanos("for", group -> nanosOrNull(group.first.nanos()))
                .text("in", group -> group.first.call().isEmpty() ? null : group.first.call())
                .text("waits for", group -> waitsFor(found, group.first))
                .text("function", group -> function(found, group.first))
                .table(groups, limit);
    }

    private static @Nullable Long nanosOrNull(long nanos) {
        return nanos < 0 ? null : nanos;
    }

    /** "worker 4711", "worker ×4 (4711, 4712, …)". */
    private static String name(ReportOperators found, AlikeThreads group) {
        String name = found.threads().name(group.first.thread());
        List<Integer> tids =
                group.all.stream()
                        .map(look -> found.threads().tid(look.thread()))
                        .sorted()
                        .toList();
        if (tids.size() == 1) {
            return name + " " + tids.getFirst();
        }
        boolean oneName =
                group.all.stream()
                                .map(look -> found.threads().name(look.thread()))
                                .distinct()
                                .count()
                        == 1;
        name = oneName ? name : name.replaceFirst("\\d+$", "*");
        String some = tids.stream().limit(3).map(String::valueOf).collect(Collectors.joining(", "));
        return name + " ×" + tids.size() + " (" + some + (tids.size() > 3 ? ", …)" : ")");
    }

    private static String state(char letter) {
        return switch (letter) {
            case 'R' -> "running";
            case 'S' -> "sleeping";
            case 'D' -> "blocked";
            case 'T' -> "stopped";
            case 't' -> "stopped by a debugger";
            case 'Z' -> "ended, not waited for";
            case 'I' -> "idle";
            default -> String.valueOf(letter);
        };
    }

    /** The object, and who holds it, with what that one does. */
    private static @Nullable String waitsFor(ReportOperators found, ThreadLook look) {
        String object = found.variable(look.thread(), look.object());
        String java = JavaLocks.waitsFor(found, look.thread());
        if (java != null && look.call().startsWith("futex(")) {
            return java;
        }
        if (look.isLocked()) {
            int holder = found.of(LOOKS).holder(look);
            String name = holder < 0 ? "process " + look.holder() : found.threadName(holder);
            ThreadLook other = found.of(LOOKS).of(holder);
            object = WaitText.held(object, name, other == null ? null : function(found, other));
        }
        return object.isEmpty() ? null : object;
    }

    /** Where it is; of a thread on a CPU where most of its samples were. */
    private static @Nullable String function(ReportOperators found, ThreadLook look) {
        int node = look.stack() >= 0 ? look.stack() : sampled(found, look.thread());
        JavaThread java = JavaLocks.last(found, look.thread());
        if (java != null && !java.place().isEmpty()) {
            return java.place();
        }
        return WaitText.function(found, node);
    }

    private static int sampled(ReportOperators found, int thread) {
        long[] most = {0, -1};
        found.samples()
                .forEach((who, node, weight, count) -> {
                    if (who == thread && weight > most[0]) {
                        most[0] = weight;
                        most[1] = node;
                    }
                });
        return (int) most[1];
    }

    @Override
    public List<String> notes(ReportOperators found) {
        List<String> notes = new ArrayList<>();
        for (List<ThreadLook> circle : found.of(LOOKS).deadlocks()) {
            List<String> steps = new ArrayList<>();
            for (ThreadLook look : circle) {
                steps.add(found.threadName(look.thread()) + " waits for " + waitsFor(found, look));
            }
            notes.add("Deadlock: " + String.join("; ", steps) + ".");
        }
        return notes;
    }
}
