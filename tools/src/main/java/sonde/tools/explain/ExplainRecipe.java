package sonde.tools.explain;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.archive.UnwrapLimits;
import sonde.binary.archive.UnwrappedFiles;
import sonde.binary.archive.WrapperFormat;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.symbolize.SymbolizeRecipe.LogCopy;

/** Finds and explains the incidents of kernel logs. */
public final class ExplainRecipe {
    /**
     * What is shown.
     *
     * @param why also by which rules the frame to blame was found
     * @param all also incidents that are no fault of the kernel, with all details
     */
    public record ExplainOptions(boolean why, boolean all) {}

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

    /** Faults of the kernel that were found; known when the listing was written. */
    public int faults() {
        return faults;
    }

    /** Incidents that are no fault of the kernel. */
    public int notices() {
        return notices;
    }

    private void write(List<LogSource> logs, OutputStream out, ListingForm form)
            throws IOException {
        for (LogSource log : logs) {
            String name = logs.size() > 1 ? log.name() : "";
            if (log.stream() != null) {
                scan(log.stream(), name, out, form);
                continue;
            }
            Path file = log.file();
            if (file == null || !Files.isRegularFile(file)) {
                try (InputStream in = Files.newInputStream(Path.of(log.name()))) {
                    scan(in, name, out, form);
                }
                continue;
            }
            try (InputStream in = Files.newInputStream(file)) {
                Input input = Input.open(file);
                if (WrapperFormat.of(input) == null) {
                    input.close();
                    scan(in, name, out, form);
                    continue;
                }
                try (UnwrappedFiles files = UnwrappedFiles.of(input, UnwrapLimits.DEFAULT)) {
                    for (Input one : files.inputs()) {
                        scan(
                                UnwrappedFiles.stream(one),
                                files.isArchive() ? one.name() : name,
                                out,
                                form);
                    }
                }
            }
        }
        if (form == ListingForm.TEXT) {
            out.write(end().getBytes(StandardCharsets.UTF_8));
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

    private void scan(InputStream in, String name, OutputStream out, ListingForm form)
            throws IOException {
        IncidentWriter writer = new IncidentWriter(out, form, options, name);
        IncidentFinder finder =
                new IncidentFinder(
                        catalogue,
                        new IncidentReader(rules, symbols),
                        incident -> {
                            faults += incident.kind().isFault() ? 1 : 0;
                            notices += incident.kind().isFault() ? 0 : 1;
                            writer.write(incident);
                        });
        new LogScanner(catalogue.automaton()).scan(in, finder);
        finder.closeAll();
    }
}
