package sonde.tools.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.analysis.CountedThreads;
import sonde.analysis.Operator;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Glob;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.open.ReportSource;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.NameRows;
import sonde.recording.ftrace.ThreadNames;

/**
 * Which rows of a recording are listed: those of the recorded tree and of what was asked for. Goes
 * along with the rows, so that a thread counts from its fork on and a tid may be reused.
 */
final class EventFilter implements EventListing.Filter {
    private final CountedThreads tree;
    private final ThreadTable threads;
    private final List<Operator> operators;
    private final ThreadNames names;
    private final TimeWindow window;
    private final Set<Integer> tids;
    private final List<Glob> comms;
    private final List<Glob> patterns;
    private final boolean threadMatters;
    private final Map<Source, TypesOfSource> kinds = new IdentityHashMap<>();
    private @Nullable TypesOfSource latest;
    private boolean accepted;
    private byte[][] judged = new byte[1 << 12][];
    private boolean[] fits = new boolean[1 << 12];

    /** What the types of a source are to this filter. */
    private static final class TypesOfSource {
        final Source source;
        final boolean[] shown;
        final boolean[] notice;

        /** The operators that follow a type. */
        final Operator[][] followers;

        /** Threads that a row of a type is about besides its own: woken, switched to. */
        final @Nullable IntegerField[] other;

        /** Rows that tell names, shown or not. */
        final NameRows lessons;

        TypesOfSource(Source source, ThreadNames names) {
            this.source = source;
            lessons = new NameRows(source.types(), names);
            int types = source.types().size();
            shown = new boolean[types];
            notice = new boolean[types];
            followers = new Operator[types][];
            other = new IntegerField[types];
        }
    }

    /**
     * @param operators that are to see the rows they select, {@code threads} not among them
     */
    EventFilter(
            ReportSource source,
            ReportOptions options,
            ThreadNames names,
            List<? extends Operator> operators)
            throws IOException {
        this(source, source.tree(), options, names, operators);
    }

    /**
     * As above.
     *
     * @param tree whose rows count, whatever the recording says
     */
    EventFilter(
            ReportSource source,
            CountedThreads tree,
            ReportOptions options,
            ThreadNames names,
            List<? extends Operator> operators)
            throws IOException {
        this.tree = tree;
        this.names = names;
        this.window = ReportOperators.window(source, options);
        this.tids = options.tids();
        this.comms = options.comms();
        this.patterns = options.events();
        boolean everyone = tree.all() && tree.recorder().isEmpty();
        this.threadMatters = !everyone || !tids.isEmpty() || !comms.isEmpty();
        this.threads = new ThreadTable(tree);
        this.operators = new ArrayList<>(operators);
        if (!everyone) {
            this.operators.add(threads);
        }
    }

    /** Whether it accepts every row and has nothing to follow. */
    boolean isEverything() {
        return !threadMatters
                && operators.isEmpty()
                && patterns.isEmpty()
                && window.equals(TimeWindow.ALL);
    }

    /** Whether it accepted any row. */
    boolean accepted() {
        return accepted;
    }

    /** Whether a row is of a process that counts now, or did not yet; or of none. */
    boolean isOfTree(int pid, int tid) {
        if (tid <= 0 || tree.all() && tree.recorder().isEmpty()) {
            return true;
        }
        int thread = threads.find(tid);
        if (tree.all()) {
            return thread < 0 || !threads.isRecorder(thread);
        }
        return tree.roots().contains(pid)
                || thread >= 0 && threads.countsFrom(thread) != ThreadTable.NEVER;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // sources are told apart by identity
    public boolean accepts(Batch batch, int row) {
        TypesOfSource of = latest;
        if (of == null || of.source != batch.source()) {
            of = kinds.computeIfAbsent(batch.source(), this::kinds);
            latest = of;
        }
        int type = batch.type(row);
        if (!comms.isEmpty()) {
            of.lessons.learn(batch, row);
        }
        for (Operator operator : of.followers[type]) {
            operator.accept(batch, row, row + 1);
        }
        boolean accepts =
                of.shown[type]
                        && window.contains(batch.time(row))
                        && (!threadMatters || isOfThread(of, batch, row));
        accepted |= accepts;
        return accepts;
    }

    private TypesOfSource kinds(Source source) {
        TypesOfSource of = new TypesOfSource(source, names);
        for (EventType type : source.types()) {
            int id = type.id();
            of.shown[id] =
                    ReportOptions.fits(patterns, type.qualifiedName())
                            || ReportOptions.fits(patterns, type.name());
            of.notice[id] = type.system().equals(EventType.NOTICE);
            of.other[id] =
                    switch (type.qualifiedName()) {
                        case "sched:sched_switch" -> integer(type, "next_pid");
                        case "sched:sched_wakeup", "sched:sched_wakeup_new", "sched:sched_waking" ->
                                integer(type, "pid");
                        default -> null;
                    };
        }
        List<int[]> codes = new ArrayList<>();
        operators.forEach(operator -> codes.add(operator.select(source)));
        for (int type = 0; type < of.followers.length; type++) {
            List<Operator> followers = new ArrayList<>();
            for (int i = 0; i < codes.size(); i++) {
                if (codes.get(i)[type] != 0) {
                    followers.add(operators.get(i));
                }
            }
            of.followers[type] = followers.toArray(Operator[]::new);
        }
        return of;
    }

    private static @Nullable IntegerField integer(EventType type, String name) {
        return type.field(name)
                .filter(field -> field.kind() == Field.Kind.INTEGER)
                .map(IntegerField::of)
                .orElse(null);
    }

    /** Losses concern everybody; of all other rows the thread decides. */
    private boolean isOfThread(TypesOfSource of, Batch batch, int row) {
        int type = batch.type(row);
        if (of.notice[type]) {
            return tids.isEmpty() && comms.isEmpty();
        }
        if (isShown(batch.tid(row), batch.time(row))) {
            return true;
        }
        IntegerField other = of.other[type];
        return other != null && isShown((int) other.of(batch, row), batch.time(row));
    }

    private boolean isShown(int tid, long time) {
        if (!tids.isEmpty() && !tids.contains(tid) || !comms.isEmpty() && !hasName(tid)) {
            return false;
        }
        if (operators.isEmpty() || tree.all() && tree.recorder().isEmpty()) {
            return true;
        }
        int thread = threads.find(tid);
        return tree.all()
                ? thread < 0 || !threads.isRecorder(thread)
                : threads.counts(thread, time);
    }

    @SuppressWarnings("ReferenceEquality") // a name is a new array when it is another
    private boolean hasName(int tid) {
        byte[] comm = names.comm(tid);
        if (comm == null) {
            return false;
        }
        if (tid >= judged.length) {
            judged = Arrays.copyOf(judged, Math.max(judged.length * 2, tid + 1));
            fits = Arrays.copyOf(fits, judged.length);
        }
        if (judged[tid] != comm) {
            judged[tid] = comm;
            fits[tid] = comms.stream().anyMatch(one -> one.matches(comm, 0, comm.length));
        }
        return fits[tid];
    }
}
