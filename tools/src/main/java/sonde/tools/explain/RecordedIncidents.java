package sonde.tools.explain;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.analysis.LogIncident;
import sonde.event.result.IncidentList;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.TimelineLanes.MarkLane;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;

/** The incidents that the kernel's log in a recording reports. */
public final class RecordedIncidents implements LogIncident.IncidentSearch {
    private static final long MICRO = 1000;
    private static final long SECOND = 1_000_000;

    private static final Pattern ENDED =
            Pattern.compile("^(?:traps: )?.{1,32}\\[\\d+\\]:? .*\\bip[: ][0-9a-f]+ sp[: ]");

    private final List<Incident> found = new ArrayList<>();
    private final IncidentWriter writer =
            new IncidentWriter(
                    OutputStream.nullOutputStream(), ListingForm.TEXT, ExplainOptions.USUAL, "");
    private @Nullable LineFeed feed;
    private @Nullable IncidentCards cards;

    /** What finds incidents, made for the first line: most recordings have none. */
    private static final class LineFeed {
        final Catalogue catalogue = new Catalogue(IncidentFinder.NOTES);
        final LiteralAutomaton automaton = catalogue.automaton();
        final IncidentFinder finder;
        int lines;
        long[] times = new long[64];
        int[] cpus = new int[64];
        int[] tids = new int[64];

        private String held = "";

        LineFeed(List<Incident> found) {
            IncidentReader reader =
                    new IncidentReader(new BlameRules(), null, ExplainOptions.USUAL);
            finder = new IncidentFinder(catalogue, reader, Double.NaN, found::add);
        }

        /**
         * Takes a part. The event printk:console comes for each call of printk(), and the line
         * about a program that was ended is printed in several calls (KERN_CONT).
         */
        void part(long time, int cpu, int tid, String text) throws IOException {
            boolean goesOn =
                    !held.isEmpty()
                            && tid == tids[lines - 1]
                            && (text.startsWith(" in ") || text.startsWith(" likely on CPU "));
            if (goesOn) {
                held += text;
                return;
            }
            flush();
            add(time, cpu, tid);
            if (ENDED.matcher(text).find()) {
                held = text;
            } else {
                feed(text);
            }
        }

        void flush() throws IOException {
            String whole = held;
            held = "";
            if (!whole.isEmpty()) {
                feed(whole);
            }
        }

        private void add(long time, int cpu, int tid) {
            if (lines == times.length) {
                times = Arrays.copyOf(times, 2 * lines);
                cpus = Arrays.copyOf(cpus, 2 * lines);
                tids = Arrays.copyOf(tids, 2 * lines);
            }
            times[lines] = time;
            cpus[lines] = cpu;
            tids[lines++] = tid;
        }

        private void feed(String text) throws IOException {
            int cpu = cpus[lines - 1];
            int tid = tids[lines - 1];
            // As a console writes it: the finder keeps apart what several contexts print.
            long micros = Math.max(0, times[lines - 1]) / MICRO;
            String digits = Long.toString(SECOND + micros % SECOND).substring(1);
            String context = tid > 0 ? "[T" + tid + "] " : cpu >= 0 ? "[C" + cpu + "] " : " ";
            String whole =
                    "["
                            + micros / SECOND
                            + "."
                            + digits
                            + "]"
                            + context
                            + LogLine.of(text, lines).text();
            byte[] bytes = whole.getBytes(StandardCharsets.UTF_8);
            int length = Math.min(bytes.length, LogScanner.MOST_LINE);
            finder.line(bytes, 0, length, automaton.marks(bytes, 0, length));
        }
    }

    /** Nothing yet. */
    public RecordedIncidents() {}

    @Override
    public void line(long time, int cpu, int tid, String text) {
        if (feed == null) {
            feed = new LineFeed(found);
        }
        try {
            for (String part : text.split("\n", -1)) {
                if (!part.isEmpty()) {
                    feed.part(time, cpu, tid, part);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Incident> all() {
        LineFeed lines = feed;
        if (lines != null) {
            try {
                lines.flush();
                lines.finder.closeAll();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return found;
    }

    private long time(LogLine line) {
        LineFeed lines = feed;
        return lines == null ? 0 : lines.times[(int) line.number() - 1];
    }

    private int of(LogLine line, boolean isCpu) {
        LineFeed lines = feed;
        int index = (int) line.number() - 1;
        return lines == null ? -1 : isCpu ? lines.cpus[index] : lines.tids[index];
    }

    @Override
    public List<LogIncident> incidents() {
        return all().stream().map(this::row).toList();
    }

    private LogIncident row(Incident one) {
        LogLine first = one.first();
        LogFrame blamed = one.blamed();
        Map<String, String> machine = one.machine();
        String task = machine.getOrDefault("task", one.fields().get("task"));
        String pid = machine.getOrDefault("pid", one.fields().getOrDefault("pid", ""));
        return new LogIncident(
                one.number(),
                time(first),
                time(one.lines().getLast()),
                of(first, true),
                of(first, false),
                one.kind().name(),
                one.kind().severity().name().toLowerCase(Locale.ROOT),
                one.kind().isFault(),
                one.identity(),
                IncidentWriter.what(one),
                blamed == null ? null : blamed.function(),
                blamed == null || blamed.module().isEmpty() ? null : blamed.module(),
                blamed == null || blamed.place().isEmpty() ? null : blamed.place(),
                task,
                pid.matches("\\d{1,9}") ? Integer.parseInt(pid) : -1,
                machine.get("kernel"),
                one.after(),
                one.panicked(),
                !one.damage().isEmpty(),
                String.join("\n", one.details()));
    }

    private IncidentCards cards() {
        IncidentCards made = cards;
        if (made == null) {
            made = new IncidentCards();
            try {
                for (Incident one : all()) {
                    made.add(one, writer, "kernel log: ", Math.max(0, time(one.first())));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            cards = made;
        }
        return made;
    }

    /** A card for each, for a report. */
    public IncidentList list() {
        return cards().list("incidents");
    }

    /** Marks for a timeline. */
    public List<MarkLane> lanes() {
        return cards().lanes();
    }

    /** A sentence about the faults of the kernel; empty where there is none. */
    public String sentence() {
        long faults = all().stream().filter(one -> one.kind().isFault()).count();
        String worst = cards().worst();
        return worst == null
                ? ""
                : faults == 1
                        ? "The kernel reported a fault: " + worst + "."
                        : "The kernel reported "
                                + faults
                                + " faults; the worst that follows from no other is "
                                + worst
                                + ".";
    }
}
