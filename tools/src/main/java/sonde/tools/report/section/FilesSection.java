package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.analysis.file.Files;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.recording.bundle.Meta;
import sonde.sys.Errno;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.Findings;
import sonde.tools.report.ReportSection;

/** Files and peers by name. */
final class FilesSection implements ReportSection {
    /** What was done with files. */
    static final AnalysisKey<Files> FILES =
            new AnalysisKey<>(found ->
                    found.add(
                            new Files(
                                    found.threads(),
                                    found.window(),
                                    found.callNames()::numberOf,
                                    found.openFiles())));

    /** Below this all together is nothing that a summary should speak of. */
    private static final long WORTH_NANOS = 1_000_000;

    private static final long WORTH_BYTES = 1 << 20;

    @Override
    public List<String> options() {
        return List.of("--files");
    }

    @Override
    public String help() {
        return "files and peers by name, with bytes and time";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(FILES);
    }

    @Override
    public List<Result> results(Findings found) {
        int limit = found.options().rows();
        return List.of(
                table(found, "files", "file", entry -> !entry.peer(), limit),
                table(found, "peers: sockets and pipes", "peer", Files.Entry::peer, limit),
                new TableBuilder<Files.Failure>("failed to open, execute or connect")
                        .text("name", Files.Failure::name)
                        .text("error", failure -> Errno.name(failure.errno()))
                        .count("count", Files.Failure::count)
                        .table(found.of(FILES).failures(found::shown), limit));
    }

    /** The hottest of both for a summary; empty when none took time or bytes to speak of. */
    static Table top(Findings found, int limit) {
        return table(
                found,
                "files and peers",
                "name",
                entry ->
                        entry.nanos() >= WORTH_NANOS
                                || entry.readBytes() + entry.writtenBytes() >= WORTH_BYTES,
                limit);
    }

    private static Table table(
            Findings found, String title, String name, Predicate<Files.Entry> which, int limit) {
        return new TableBuilder<Files.Entry>(title)
                .text(name, Files.Entry::name)
                .count("opens", entry -> someOf(entry.opens()))
                .count("calls", Files.Entry::calls)
                .bytes("read", entry -> someOf(entry.readBytes()))
                .bytes("written", entry -> someOf(entry.writtenBytes()))
                .nanos("time", Files.Entry::nanos)
                .table(found.of(FILES).entries(found::shown).stream().filter(which), limit);
    }

    private static @Nullable Long someOf(long number) {
        return number == 0 ? null : number;
    }

    /** What is to be known of the names. */
    @Override
    public List<String> notes(Findings found) {
        List<String> notes = new ArrayList<>();
        if (!found.of(FILES).sawNames()) {
            notes.add(
                    "Files have no names but those that /proc showed at the start: "
                            + reason(found.meta())
                            + ".");
        }
        notes.addAll(lossNotes(found));
        return notes;
    }

    /** What losses do to the names of files. */
    static List<String> lossNotes(Findings found) {
        return found.of(FILES).losses() == 0 || found.of(FILES).entries(found::shown).isEmpty()
                ? List.of()
                : List.of(
                        "Events were lost: descriptors opened or closed meanwhile may bear the name"
                                + " of another file.");
    }

    private static String reason(@Nullable Meta meta) {
        if (meta == null) {
            return "only sonde's own recordings have the rows that name them";
        }
        return meta.notes().stream()
                .filter(note -> note.contains("names"))
                .findFirst()
                .orElse("the recording has no rows that name them");
    }
}
