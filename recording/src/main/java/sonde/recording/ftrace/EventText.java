package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;
import sonde.recording.ftrace.EventBody.PrintedBody;

/**
 * Writes events as {@code trace-cmd report} does: {@code "comm-tid [cpu] time: name: text"}.
 *
 * <p>Has a memory (names learnt from sched_switch, the indentation of the function tracer), so rows
 * go in by time, from one thread; {@link EventListing} knows which may go in from several.
 */
public final class EventText implements RowText {
    private static final int NAME_COLUMNS = 20;

    private static final PackedText LOST_CPU = PackedText.of("CPU:");
    private static final PackedText LOST_EVENTS = PackedText.of("EVENTS DROPPED]\n");

    private static final byte PLAIN = 0;
    private static final byte LOST = 1;
    private static final byte CORRUPT = 2;
    private static final byte UNKNOWN = 3;

    private final List<EventType> types;
    private final TextContext context;
    private final AddressNames addresses;
    private final boolean nanos;
    private final @Nullable EventBody[] bodies;
    // Those of them that are a print format and nothing else.
    private final @Nullable PrintFmt[] formats;
    private final @Nullable PackedText[] names;
    private final ThreadNames threads;
    private final NameRows nameRows;
    private final byte[] notices;
    private final Turn[] turns;
    private final boolean[] mayTeach;
    private final boolean[] graphEntries;
    private long timeOffset;
    private TimePrecision timeFormat = TimePrecision.MICROS;
    private boolean rawFields;
    private boolean plain;
    private @Nullable Latest latest;
    private CodeNames code = CodeNames.NONE;
    private final boolean[] stacks;
    // How the latest lines of each CPU began; two threads at once make the same.
    private final @Nullable LineBegin[] heads = new LineBegin[64];

    /** {@code " comm-tid [cpu] second."}; a thread's text is another one after a new name. */
    private record LineBegin(PackedText thread, long second, PackedText text) {}

    /** How times are shown. */
    public enum TimePrecision {
        /** Seconds with six digits. */
        MICROS,
        /** Seconds with nine digits. */
        NANOS,
        /** The number that was recorded. */
        RAW,
    }

    /** The time of the event before, of whatever recording: for differences. */
    public static final class Latest {
        private long time;
        private boolean known;

        /** No event yet. */
        public Latest() {}
    }

    /**
     * A writer for the rows of one source; times in nanoseconds are shown as seconds with six
     * digits.
     *
     * @param threads names, which it also learns
     */
    public EventText(Source source, TextContext context, ThreadNames threads) {
        this(source, context, threads, AddressNames.NONE);
    }

    /** As above, with names for the addresses of samples. */
    public EventText(
            Source source, TextContext context, ThreadNames threads, AddressNames addresses) {
        this.types = source.types();
        this.context = context;
        this.addresses = addresses;
        this.nanos = source.clock().isNanos();
        this.threads = threads;
        this.nameRows = new NameRows(types, threads);
        this.bodies = new EventBody[types.size()];
        this.formats = new PrintFmt[types.size()];
        this.names = new PackedText[types.size()];
        this.notices = new byte[types.size()];
        this.turns = new Turn[types.size()];
        this.mayTeach = new boolean[types.size()];
        this.graphEntries = new boolean[types.size()];
        this.stacks = new boolean[types.size()];
        for (EventType type : types) {
            notices[type.id()] = notice(type);
            turns[type.id()] = turn(type);
            mayTeach[type.id()] = nameRows.mayTeach(type.id());
            graphEntries[type.id()] = GraphBody.isEntry(type);
        }
    }

    private static byte notice(EventType type) {
        return switch (type.qualifiedName()) {
            case "notice:lost" -> LOST;
            case "notice:corrupt" -> CORRUPT;
            case "notice:unknown" -> UNKNOWN;
            default -> PLAIN;
        };
    }

    private static Turn turn(EventType type) {
        // The indentation of functions goes by what came before.
        boolean isFunction =
                type.qualifiedName().equals("ftrace:function")
                        || type.qualifiedName().equals("ftrace:func_repeats");
        return isFunction || isSample(type) ? Turn.IN_ORDER : Turn.ANY;
    }

    /** Whether rows of a type are samples of a counter or a clock. */
    static boolean isSample(EventType type) {
        return type.system().equals("perf");
    }

    /** Shows the call chain of types below the event, a frame a line, as perf script does. */
    public EventText withStacks(CodeNames names, Predicate<EventType> stacked) {
        code = names;
        for (EventType type : types) {
            stacks[type.id()] = stacked.test(type);
        }
        return this;
    }

    /** Shows times with nine digits, as {@code trace-cmd report -t}. */
    public EventText withNanoseconds() {
        return withTimes(TimePrecision.NANOS);
    }

    /** Shows times that way. */
    public EventText withTimes(TimePrecision format) {
        timeFormat = format;
        return this;
    }

    /** Shows fields by name instead of the print format, as {@code trace-cmd report -R}. */
    public EventText withRawFields() {
        rawFields = true;
        return this;
    }

    /** Shows behind each time how long after the event before it was; rows go in one by one. */
    public EventText withDifferences(Latest shared) {
        latest = shared;
        return this;
    }

    /** Tells events by their print formats alone, without forms of their own, as perf does. */
    public EventText withoutForms() {
        plain = true;
        return this;
    }

    /** Adds nanoseconds to every time shown. */
    public EventText offsetBy(long nanoseconds) {
        timeOffset = nanoseconds;
        return this;
    }

    /** Appends the line of a row, line feed included. */
    public void append(TextBuffer out, Batch batch, int row) {
        append(out, batch, row, null, 0);
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        int type = batch.type(row);
        if (notices[type] != PLAIN) {
            return notice(out, batch, row, notices[type]);
        }
        head(out, batch, row);
        PackedText name = names[type];
        if (name == null) {
            name = name(type);
        }
        out.put(name);
        PrintFmt format = formats[type];
        boolean both = false;
        if (format != null) {
            format.append(out, batch, row);
        } else {
            both = body(type).append(out, batch, row, next, nextRow);
        }
        if (out.at(out.size() - 1) == '\n') {
            out.truncate(out.size() - 1);
        }
        out.put('\n');
        if (stacks[type]) {
            chain(out, batch, row);
        }
        if (mayTeach[type]) {
            nameRows.learn(batch, row);
        }
        return both;
    }

    private void chain(TextBuffer out, Batch batch, int row) {
        boolean user = false;
        for (int i = 0; i < batch.stackDepth(row); i++) {
            long address = batch.stackEntry(row, i);
            if (Long.compareUnsigned(address, SampleBody.PERF_CONTEXT_MAX) >= 0) {
                user = address == SampleBody.PERF_CONTEXT_USER;
                continue;
            }
            // What looks like the kernel in a user's call chain was never an address.
            CodeNames names = user && address < 0 ? CodeNames.NONE : code;
            names.append(out.put('\t'), batch.pid(row), address, true);
            out.put('\n');
        }
    }

    /** Appends what stands behind the event's name only. */
    public void appendBody(TextBuffer out, Batch batch, int row) {
        if (notices[batch.type(row)] == PLAIN) {
            body(batch.type(row)).append(out, batch, row, null, 0);
        }
    }

    @Override
    public boolean looksAhead(int type) {
        return graphEntries[type] && !rawFields;
    }

    @Override
    public boolean isPair(Batch batch, int row, Batch next, int nextRow) {
        return body(batch.type(row)) instanceof GraphBody graph
                && graph.isLeaf(batch, row, next, nextRow);
    }

    @Override
    public Turn turn(Batch batch, int row) {
        int type = batch.type(row);
        if (latest != null || stacks[type] && graphEntries[type]) {
            return Turn.ALONE;
        }
        Turn turn = turns[type];
        if (turn == Turn.ANY && stacks[type]) {
            return mayTeach[type] && nameRows.teaches(batch, row) ? Turn.ALONE : Turn.IN_ORDER;
        }
        if (turn == Turn.ANY) {
            return mayTeach[type] && nameRows.teaches(batch, row) ? Turn.ALONE : turn;
        }
        // Names of kernel code do not change.
        return isSample(types.get(type)) && SampleBody.address(batch, row) < 0 ? Turn.ANY : turn;
    }

    @Override
    public boolean isFree(Batch batch) {
        if (latest != null) {
            return false;
        }
        int size = batch.size();
        for (int row = 0; row < size; row++) {
            int type = batch.type(row);
            // What is known stays known: names told in the meantime make no row less free.
            if (turns[type] != Turn.ANY
                    || stacks[type]
                    || mayTeach[type] && nameRows.teaches(batch, row)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void skip(Batch batch, int row) {
        nameRows.learn(batch, row);
    }

    private boolean notice(TextBuffer out, Batch batch, int row, byte notice) {
        switch (notice) {
            case LOST -> {
                out.put(LOST_CPU).decimal(batch.cpu(row)).put(' ').put('[');
                if (batch.weight(row) > 0) {
                    out.decimal(batch.weight(row)).put(' ');
                }
                out.put(LOST_EVENTS);
            }
            case CORRUPT -> {
                out.put("CPU:").decimal(batch.cpu(row)).put(" [");
                long missing = batch.weight(row);
                if (batch.payloadBytes(row) == 0 && missing != 1) {
                    out.put("CUT SHORT");
                    if (missing > 0) {
                        out.put(", ").decimal(missing).put(" BYTES MISSING");
                    }
                    out.put("]\n");
                } else {
                    out.put("CORRUPT, ").decimal(batch.payloadBytes(row)).put(" BYTES SKIPPED]\n");
                }
            }
            default -> {
                head(out, batch, row);
                out.put(" [UNKNOWN EVENT ").decimal(batch.u16(row, 0)).put("]\n");
            }
        }
        return false;
    }

    private void head(TextBuffer out, Batch batch, int row) {
        PackedText thread = threads.head(batch.tid(row));
        int cpu = batch.cpu(row);
        long time = batch.time(row) + timeOffset;
        if (!nanos || timeFormat == TimePrecision.RAW) {
            cpu(out.put(thread), cpu);
            int start = out.size();
            out.unsigned(time).pad(start, 12, false).put(':');
        } else {
            head(out, thread, cpu, time);
        }
        Latest before = latest;
        if (before != null) {
            difference(out, time, before);
        }
    }

    private void head(TextBuffer out, PackedText thread, int cpu, long time) {
        boolean nineDigits = timeFormat == TimePrecision.NANOS;
        long unit = nineDigits ? 1_000_000_000 : 1_000_000;
        long units = nineDigits ? time & Long.MAX_VALUE : micros(time);
        long second = units / unit;
        LineBegin known = cpu >= 0 && cpu < heads.length ? heads[cpu] : null;
        if (known == null || known.thread != thread || known.second != second) {
            known = head(thread, cpu, second);
        }
        out.put(known.text);
        int rest = (int) (units - second * unit);
        (nineDigits ? out.nineDigits(rest) : out.sixDigits(rest)).put(':');
    }

    private LineBegin head(PackedText thread, int cpu, long second) {
        TextBuffer text = new TextBuffer(64).put(thread);
        cpu(text, cpu);
        text.put(' ');
        int start = text.size();
        text.digits(second, 1).pad(start, 5, false).put('.');
        LineBegin made = new LineBegin(thread, second, new PackedText(text.since(0)));
        if (cpu >= 0 && cpu < heads.length) {
            heads[cpu] = made;
        }
        return made;
    }

    private static void cpu(TextBuffer out, int cpu) {
        (cpu >= 0 ? out.digits(cpu, 3) : out.put("---")).put(']');
    }

    /** {@code "(+12)"} in the unit of the last digit, in a column of its own. */
    private void difference(TextBuffer out, long time, Latest before) {
        boolean micros = nanos && timeFormat == TimePrecision.MICROS;
        long shown = micros ? micros(time) : time;
        out.put(' ');
        int start = out.size();
        if (before.known) {
            out.put("(+").decimal(shown - before.time).put(')');
        }
        out.pad(start, 8, true);
        before.time = shown;
        before.known = true;
    }

    private static long micros(long nanoseconds) {
        long rounded = nanoseconds + 500;
        return rounded >= 0 ? rounded / 1000 : Long.divideUnsigned(rounded, 1000);
    }

    private PackedText name(int type) {
        String name = types.get(type).name();
        String padded = " " + name + ": " + " ".repeat(Math.max(0, NAME_COLUMNS - name.length()));
        PackedText packed = new PackedText(padded.getBytes(StandardCharsets.UTF_8));
        names[type] = packed;
        return packed;
    }

    private EventBody body(int type) {
        EventBody body = bodies[type];
        if (body == null) {
            EventType of = types.get(type);
            if (isSample(of)) {
                body = new SampleBody(context, addresses);
                body = of.name().equals("bpf-output") ? PerfBodies.named(body) : body;
            } else if (rawFields) {
                body = RawFields.of(of, PrintFmt.of(of, context));
            } else {
                body = plain ? EventBodies.plain(of, context) : EventBodies.of(of, types, context);
            }
            if (body instanceof PrintedBody printed) {
                formats[type] = printed.format();
            }
            bodies[type] = body;
        }
        return body;
    }
}
