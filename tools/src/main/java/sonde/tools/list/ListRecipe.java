package sonde.tools.list;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.event.Field;
import sonde.event.Glob;
import sonde.event.result.Column;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.probe.dynamic.NamedProbes;
import sonde.probe.plan.EventCatalogue;
import sonde.probe.plan.EventCatalogue.PerfEventNumber;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.ftrace.EventFormat;
import sonde.recording.ftrace.ProbeField;
import sonde.recording.perfdata.PerfAbi;
import sonde.tools.list.PmuEvents.PmuEvent;

/** Lists the events that {@code record -e} takes, and what else the kernel can trace. */
public final class ListRecipe {
    /** Formats read for one listing with fields. */
    private static final int MAX_FORMATS = 5000;

    private static final String TRACED = "available_filter_functions";

    private static final Map<String, String> TRACERS =
            Map.ofEntries(
                    Map.entry("nop", "nothing but events"),
                    Map.entry("function", "calls of kernel functions"),
                    Map.entry("function_graph", "calls and returns of kernel functions, nested"),
                    Map.entry("irqsoff", "the longest time with interrupts off"),
                    Map.entry("preemptoff", "the longest time with preemption off"),
                    Map.entry("preemptirqsoff", "the longest time with one of them off"),
                    Map.entry("wakeup", "the longest time from wake-up to running, all tasks"),
                    Map.entry("wakeup_rt", "the same, real-time tasks"),
                    Map.entry("wakeup_dl", "the same, deadline tasks"),
                    Map.entry("blk", "block I/O as blktrace records it"),
                    Map.entry("hwlat", "time that firmware takes (SMI)"),
                    Map.entry("osnoise", "what keeps a CPU from a busy thread"),
                    Map.entry("timerlat", "latency of timers, in interrupt and thread"),
                    Map.entry("mmiotrace", "a driver's accesses to memory-mapped registers"),
                    Map.entry("branch", "likely() and unlikely() branches"));

    private final Optional<Tracefs> tracefs;
    private final PmuEvents pmus;
    private @Nullable Map<String, Map<String, String>> types;

    /** Over this machine's tracefs, when it is mounted and readable. */
    public ListRecipe() {
        this(Path.of("/sys/bus/event_source/devices"));
    }

    /** Over drivers of counters in another folder. */
    ListRecipe(Path devices) {
        this.tracefs = Tracefs.find();
        this.pmus = new PmuEvents(devices);
    }

    /** What came of a listing. */
    public record ListOutcome(Report result, boolean found) {}

    /**
     * The events whose name, or {@code system:name}, a glob matches; a word without wildcard also
     * matches any name it is part of.
     *
     * @param withFields adds each tracepoint's fields, as its format states them
     */
    public ListOutcome list(String pattern, boolean withFields) throws IOException {
        List<String> notes = new ArrayList<>();
        String[] tracepoints = tracepoints(notes);
        EventCatalogue catalogue = new EventCatalogue(Arrays.asList(tracepoints));
        Found found = matching(catalogue, pattern);
        if (found.isEmpty() && !isGlob(pattern)) {
            found = matching(catalogue, around(pattern));
        }
        if (found.isEmpty()) {
            String nearest = catalogue.nearest(pattern);
            notes.add(
                    "no event matches '"
                            + pattern
                            + "'"
                            + (nearest.isEmpty() ? "" : "; the nearest is '" + nearest + "'"));
            return new ListOutcome(new Report("", notes, List.of()), false);
        }
        if (!pmus.hasCpu() && found.perf.stream().anyMatch(ListRecipe::isCounter)) {
            notes.add(
                    "this machine has no counters for hardware and cache events: no driver of a CPU's"
                            + " PMU is in /sys/bus/event_source/devices");
        }
        if (!found.pmu.isEmpty()) {
            notes.add(
                    "'perf stat -e' counts PMU events; 'record -e' takes those of the CPU as"
                            + " raw numbers (r01c4). Metrics are tables of perf, not of the kernel:"
                            + " 'perf list metric'");
        }
        List<Result> sections = new ArrayList<>();
        if (withFields) {
            for (String name :
                    found.tracepoints.subList(0, Math.min(found.tracepoints.size(), MAX_FORMATS))) {
                sections.addAll(format(name));
            }
        }
        Table rest = names(withFields ? new Found(List.of(), found.perf, found.pmu) : found);
        if (!rest.rows().isEmpty()) {
            sections.add(rest);
        }
        return new ListOutcome(new Report("", notes, sections), true);
    }

    private record Found(List<String> tracepoints, List<PerfEventNumber> perf, List<PmuEvent> pmu) {
        boolean isEmpty() {
            return tracepoints.isEmpty() && perf.isEmpty() && pmu.isEmpty();
        }
    }

    /** A glob without a colon also means the events of all systems that it matches. */
    private Found matching(EventCatalogue catalogue, String pattern) {
        Set<String> tracepoints = new TreeSet<>(catalogue.tracepoints(pattern));
        if (isGlob(pattern) && pattern.indexOf(':') < 0) {
            tracepoints.addAll(catalogue.tracepoints(pattern + ":*"));
        }
        Glob glob = Glob.shell(pattern);
        return new Found(
                List.copyOf(tracepoints),
                EventCatalogue.perfEvents(pattern),
                pmus.all().stream().filter(event -> glob.matches(event.name())).toList());
    }

    /** The tracers of this kernel. */
    public ListOutcome tracers() throws IOException {
        List<String> names = List.of();
        String current = "";
        if (tracefs.isPresent()) {
            names = List.of(tracefs.get().text("available_tracers").strip().split("\\s+"));
            current = tracefs.get().text("current_tracer").strip();
        }
        String used = current;
        Table table =
                new TableBuilder<String>("tracers")
                        .text("tracer", name -> name)
                        .text("records", name -> TRACERS.getOrDefault(name, ""))
                        .text("in use", name -> name.equals(used) ? "yes" : "")
                        .table(names);
        List<String> notes = new ArrayList<>();
        if (names.isEmpty()) {
            tracepoints(notes);
        }
        return new ListOutcome(new Report("", notes, List.of(table)), !names.isEmpty());
    }

    /** A function of the kernel, with the module that has it. */
    private record KernelFunction(String name, String module) {}

    /** The kernel's functions whose name a glob matches, those that tracers see. */
    public ListOutcome functions(String pattern) throws IOException {
        List<String> notes = new ArrayList<>();
        Glob glob = Glob.shell(pattern);
        List<KernelFunction> found;
        try {
            String text = tracefs.isEmpty() ? "" : tracefs.get().text(TRACED);
            found = functions(text.lines(), 0, glob);
        } catch (IOException e) {
            notes.add(
                    TRACED
                            + " cannot be read ("
                            + e.getMessage()
                            + "): these are the functions of /proc/kallsyms; tracers and probes may"
                            + " refuse some");
            String text = Files.readString(Path.of("/proc/kallsyms"));
            Stream<String> code =
                    text.lines().filter(line -> line.matches("[0-9a-f]+ [tTwW] [^$].*"));
            found = functions(code, 2, glob);
        }
        if (found.isEmpty()) {
            notes.add("no function of the kernel matches '" + pattern + "'");
        }
        Table table =
                new TableBuilder<KernelFunction>("functions")
                        .text("function", KernelFunction::name)
                        .text("module", KernelFunction::module)
                        .table(found);
        boolean isEmpty = found.isEmpty();
        return new ListOutcome(
                new Report("", notes, isEmpty ? List.of() : List.of(table)), !isEmpty);
    }

    /** Lines end with {@code NAME} or {@code NAME [MODULE]}. */
    private static List<KernelFunction> functions(Stream<String> lines, int column, Glob glob) {
        return lines.map(line -> line.split("\\s+"))
                .filter(words -> words.length > column && glob.matches(words[column]))
                .map(words ->
                        new KernelFunction(
                                words[column],
                                words.length > column + 1
                                        ? words[column + 1].replaceAll("[\\[\\]]", "")
                                        : ""))
                .toList();
    }

    private static boolean isGlob(String pattern) {
        return pattern.indexOf('*') >= 0 || pattern.indexOf('?') >= 0;
    }

    private static String around(String word) {
        int colon = word.indexOf(':');
        return colon < 0
                ? "*" + word + "*"
                : word.substring(0, colon + 1) + "*" + word.substring(colon + 1) + "*";
    }

    private String[] tracepoints(List<String> notes) throws IOException {
        if (tracefs.isEmpty()) {
            notes.add(
                    "no tracepoints: tracefs is not mounted or not readable by this user;"
                            + " run as root, or mount -t tracefs nodev "
                            + Tracefs.USUAL);
            return new String[0];
        }
        try {
            return tracefs.get().tracepoints().toArray(String[]::new);
        } catch (IOException e) {
            notes.add("no tracepoints: " + e.getMessage() + "; run as root");
            return new String[0];
        }
    }

    private static Table names(Found found) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (PerfEventNumber event : found.perf) {
            rows.add(List.of(event.name(), kind(event), event.meaning()));
        }
        for (PmuEvent event : found.pmu) {
            rows.add(List.of(event.name(), "PMU", event.text()));
        }
        boolean hasText = !rows.isEmpty();
        for (String name : found.tracepoints) {
            rows.add(hasText ? List.of(name, "tracepoint", "") : List.of(name, "tracepoint"));
        }
        List<Column> columns = new ArrayList<>(List.of(Column.text("event"), Column.text("kind")));
        if (hasText) {
            columns.add(Column.text("counts"));
        }
        return new Table("events", columns, rows);
    }

    private static boolean isCounter(PerfEventNumber event) {
        return event.type() != PerfAbi.PERF_TYPE_SOFTWARE;
    }

    private static String kind(PerfEventNumber event) {
        return switch (event.type()) {
            case PerfAbi.PERF_TYPE_HARDWARE -> "hardware";
            case PerfAbi.PERF_TYPE_HW_CACHE -> "hardware cache";
            default -> "software";
        };
    }

    /** The format file of an event, with the types that 'probe add' noted. */
    private List<Result> format(String qualifiedName) throws IOException {
        Tracefs from = tracefs.orElseThrow();
        String text = from.text("events/" + qualifiedName.replaceFirst(":", "/") + "/format");
        EventFormat format =
                EventFormat.parse(
                        ProbeField.declare(
                                text, probeTypes(from).getOrDefault(qualifiedName, Map.of())),
                        Long.BYTES);
        Table fields =
                new TableBuilder<Field>(qualifiedName)
                        .text("field", Field::name)
                        .text("declaration", Field::declaration)
                        .id("offset", Field::offset)
                        .id("size", Field::sizeBytes)
                        .text("signed", field -> field.signed() ? "yes" : "no")
                        .table(format.fields());
        Table whole =
                new TableBuilder<EventFormat>(qualifiedName + " format")
                        .id("ID", EventFormat::id)
                        .text("print fmt", one -> one.printFormat().replaceAll("\\s+", " "))
                        .table(List.of(format));
        return List.of(fields, whole);
    }

    private Map<String, Map<String, String>> probeTypes(Tracefs from) throws IOException {
        if (types == null) {
            types = NamedProbes.types(from);
        }
        return types;
    }
}
