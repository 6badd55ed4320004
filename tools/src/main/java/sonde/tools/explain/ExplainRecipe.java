package sonde.tools.explain;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.archive.UnwrapLimits;
import sonde.binary.archive.UnwrappedFiles;
import sonde.binary.archive.WrapperFormat;
import sonde.binary.elf.ElfFile;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.symbolize.SymbolizeRecipe.LogCopy;
import sonde.view.TextEscape;

/** Finds and explains the incidents of kernel logs. */
public final class ExplainRecipe {
    /**
     * What is shown.
     *
     * @param why also by which rules the frame to blame was found
     * @param all all frames of all stacks
     * @param groups one line for each identity, with its count
     * @param foreign whether identities have exactly the words of syzkaller
     * @param follow whether a log goes on after its end
     * @param force whether addresses are decoded with an image of another release too
     * @param dates whether times are shown as dates
     * @param filter which incidents are shown
     * @param source the source tree that excerpts are taken from; null for none
     */
    public record ExplainOptions(
            boolean why,
            boolean all,
            boolean groups,
            boolean foreign,
            boolean follow,
            boolean force,
            boolean dates,
            IncidentFilter filter,
            @Nullable Path source) {
        /** Text for people without any option. */
        public static final ExplainOptions USUAL =
                new ExplainOptions(
                        false, false, false, false, false, false, false, IncidentFilter.ALL, null);

        /** With the words of syzkaller. */
        public ExplainOptions ofSyzkaller() {
            return new ExplainOptions(why, all, groups, true, follow, force, dates, filter, source);
        }
    }

    /** A read of this device waits for the next record, and never ends. */
    static final Path KMSG = Path.of("/dev/kmsg");

    /** HEADER_SIGNATURE of systemd's journal-def.h. */
    private static final String JOURNAL = "LPKSHHRH";

    private static final int MOST_NAMED = 5;
    private static final int MOST_GROUPS = 1 << 14;

    /**
     * A log to read.
     *
     * @param file null for a stream
     */
    public record LogSource(String name, @Nullable Path file, @Nullable InputStream stream) {}

    private final ExplainOptions options;
    private final @Nullable LogCopy symbols;
    private final Catalogue catalogue = new Catalogue(IncidentFinder.NOTES);
    private final BlameRules rules = new BlameRules();
    private final Map<String, Alike> alike = new LinkedHashMap<>();
    private final List<String> others = new ArrayList<>();

    /** Binary journals, which are not read. */
    private final List<String> journals = new ArrayList<>();

    private String otherRelease = "";
    private @Nullable IncidentCards cards;
    private int faults;
    private int notices;

    /**
     * @param symbols decodes the addresses of reports; null for none
     */
    public ExplainRecipe(ExplainOptions options, @Nullable LogCopy symbols) {
        this.options = options;
        this.symbols = symbols;
    }

    /** The incidents of some logs, written as soon as each of them ended. */
    public Listing of(List<LogSource> logs) {
        return new Listing("", List.of(), (out, form) -> write(logs, out, form));
    }

    /** The incidents of some logs as a page. */
    public IncidentPage page(List<LogSource> logs) throws IOException {
        IncidentCards all = new IncidentCards();
        cards = all;
        write(logs, OutputStream.nullOutputStream(), ListingForm.TEXT);
        String first = logs.getFirst().name();
        String title = logs.size() == 1 ? first : first + " and " + (logs.size() - 1) + " more";
        return IncidentPage.of(title, end(), all);
    }

    /** What the answer to a key of SysRq says about tasks, processors and memory. */
    public static List<String> answer(List<String> texts) {
        List<LogLine> lines = new ArrayList<>();
        for (String text : texts) {
            lines.add(new LogLine(lines.size() + 1, Double.NaN, "", text));
        }
        return TaskDump.of(lines, new BlameRules());
    }

    /** Faults of the kernel that were found; known when the listing was written. */
    public int faults() {
        return faults;
    }

    /** The kernel of reports that were left as they are: the image is of another; else empty. */
    public String otherRelease() {
        return otherRelease;
    }

    /** Sentences about what was asked for and the log does not say. */
    public List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (options.filter().undated() > 0) {
            notes.add(
                    ("the log does not say when %d of these incidents were: --since and --until"
                                    + " did not select them; dmesg -T and journalctl write dates")
                            .formatted(options.filter().undated()));
        }
        journals.stream()
                .limit(MOST_NAMED)
                .forEach(log ->
                        notes.add(
                                TextEscape.line(log)
                                        + " is a binary journal; journalctl reads it:"
                                        + " journalctl -k -o export --file FILE | sonde explain"));
        others.stream()
                .limit(MOST_NAMED)
                .forEach(log ->
                        notes.add(
                                TextEscape.line(log)
                                        + " does not look like a kernel log: no line has the"
                                        + " kernel's time, and none begins a report"));
        return notes;
    }

    /** Incidents that are no fault of the kernel. */
    public int notices() {
        return notices;
    }

    private void write(List<LogSource> logs, OutputStream out, ListingForm form)
            throws IOException {
        for (LogSource log : logs) {
            String name = logs.size() > 1 ? log.name() : "";
            Path file = log.file();
            if (log.stream() != null) {
                scan(log.stream(), file, name, out, form);
            } else if (file != null && Files.isDirectory(file)) {
                for (CrashRecords.CrashLog record : CrashRecords.of(file)) {
                    if (record.file() != null) {
                        file(record.file(), record.name(), out, form);
                        continue;
                    }
                    scan(new ByteArrayInputStream(record.text()), null, record.name(), out, form);
                }
            } else if (file != null) {
                file(file, name, out, form);
            }
        }
        if (options.groups()) {
            groups(out, form);
        } else if (form == ListingForm.TEXT) {
            out.write(end().getBytes(StandardCharsets.UTF_8));
        }
    }

    private void file(Path file, String name, OutputStream out, ListingForm form)
            throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            if (options.follow() || !Files.isRegularFile(file)) {
                scan(in, file, name, out, form);
                return;
            }
            Input input;
            try {
                input = Input.open(file);
            } catch (IOException e) {
                scan(in, file, name, out, form); // files of pstore and proc cannot be mapped
                return;
            }
            if (WrapperFormat.of(input) == null) {
                boolean isLog = isLog(input, file.toString());
                input.close();
                if (isLog) {
                    scan(in, file, name, out, form);
                }
                return;
            }
            try (UnwrappedFiles files = UnwrappedFiles.of(input, UnwrapLimits.DEFAULT)) {
                for (Input one : files.inputs()) {
                    if (!isLog(one, one.name())) {
                        continue;
                    }
                    String inner = files.isArchive() ? one.name() : name;
                    scan(UnwrappedFiles.stream(one), null, inner, out, form);
                }
            }
        }
    }

    /** A kernel image holds the first line of each report; a console never begins like one. */
    private boolean isLog(Input input, String name) {
        boolean isJournal = input.begins(JOURNAL);
        if (isJournal && journals.size() < MOST_GROUPS) {
            journals.add(name);
        }
        return !isJournal && !ElfFile.isElf(input.segment());
    }

    /** Incidents of one identity. */
    private static final class Alike {
        final Incident first;
        final String log;
        int count;

        Alike(Incident first, String log) {
            this.first = first;
            this.log = log;
        }
    }

    /** One line for each identity, most frequent first. */
    private void groups(OutputStream out, ListingForm form) throws IOException {
        List<Alike> all = new ArrayList<>(alike.values());
        all.sort(Comparator.comparingInt((Alike one) -> one.count).reversed());
        IncidentWriter writer = new IncidentWriter(out, form, options, "");
        for (Alike one : all) {
            writer.group(one.first, one.log, one.count);
        }
    }

    private String end() {
        String found =
                faults == 0
                        ? "No fault of the kernel was found"
                        : faults == 1
                                ? "1 fault of the kernel was found"
                                : faults + " faults of the kernel were found";
        return notices == 0
                ? found + ".\n"
                : found + "; " + notices + (notices == 1 ? " notice" : " notices") + ".\n";
    }

    private void scan(
            InputStream in, @Nullable Path file, String name, OutputStream out, ListingForm form)
            throws IOException {
        IncidentWriter writer = new IncidentWriter(out, form, options, name);
        IncidentReader reader = new IncidentReader(rules, symbols, options);
        boolean isDevice = KMSG.equals(file);
        // System.nanoTime() is CLOCK_MONOTONIC, which stands still in a suspend as printk's does.
        double boot =
                isDevice ? System.currentTimeMillis() / 1e3 - System.nanoTime() / 1e9 : Double.NaN;
        IncidentCards page = cards;
        IncidentFinder.IncidentSink shown =
                incident -> {
                    if (!options.filter().wants(incident)) {
                        return;
                    }
                    faults += incident.kind().isFault() ? 1 : 0;
                    notices += incident.kind().isFault() ? 0 : 1;
                    if (page != null) {
                        page.add(incident, writer);
                    } else if (!options.groups()) {
                        writer.write(incident);
                    } else if (alike.size() < MOST_GROUPS
                            || alike.containsKey(incident.identity())) {
                        alike.computeIfAbsent(incident.identity(), _ -> new Alike(incident, name))
                                .count++;
                    }
                };
        LeakGroups leaks = new LeakGroups(shown);
        boolean isEach = options.groups() || options.foreign();
        IncidentFinder.IncidentSink objects = isEach ? shown : leaks;
        IncidentFinder finder = new IncidentFinder(catalogue, reader, boot, objects);
        InputStream entries = isDevice ? in : JournalInput.of(in);
        InputStream log =
                options.follow() || isDevice
                        ? new LiveInput(
                                entries,
                                options.follow(),
                                file != null && (isDevice || Files.isRegularFile(file)),
                                () -> {
                                    finder.closeAll();
                                    leaks.flush();
                                })
                        : entries;
        new LogScanner(catalogue.automaton()).scan(log, finder);
        finder.closeAll();
        leaks.flush();
        if (!finder.isLog() && others.size() < MOST_GROUPS) {
            others.add(name.isEmpty() ? file == null ? "the input" : file.toString() : name);
        }
        if (!reader.otherRelease().isEmpty()) {
            otherRelease = reader.otherRelease();
        }
    }
}
