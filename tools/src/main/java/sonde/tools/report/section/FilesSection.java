package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.analysis.file.FileAccesses;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.recording.bundle.RecordingMeta;
import sonde.sys.Errno;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** Files and peers by name. */
final class FilesSection implements ReportSection {
    /** What was done with files. */
    static final AnalysisKey<FileAccesses> FILES =
            new AnalysisKey<>(found ->
                    found.add(
                            new FileAccesses(
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
        return "show files and peers by name, with bytes and time";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(FILES);
    }

    @Override
    public List<Result> results(ReportOperators found) {
        int limit = found.options().rows();
        return List.of(
                table(found, "files", "file", entry -> !entry.peer(), limit),
                table(found, "peers: sockets and pipes", "peer", FileAccesses.Entry::peer, limit),
                new TableBuilder<FileAccesses.Failure>("failed to open, execute or connect")
                        .text("name", FileAccesses.Failure::name)
                        .text("error", failure -> Errno.name(failure.errno()))
                        .count("count", FileAccesses.Failure::count)
                        .table(found.of(FILES).failures(found::shown), limit));
    }

    /** The hottest of both for a summary; empty when none took time or bytes to speak of. */
    static Table top(ReportOperators found, int limit, long nanos) {
        return table(
                found,
                "files and peers",
                "name",
                entry ->
                        entry.nanos() >= Math.max(WORTH_NANOS, nanos)
                                || entry.readBytes() + entry.writtenBytes() >= WORTH_BYTES,
                limit);
    }

    private static Table table(
            ReportOperators found,
            String title,
            String name,
            Predicate<FileAccesses.Entry> which,
            int limit) {
        return new TableBuilder<FileAccesses.Entry>(title)
                .text(name, FileAccesses.Entry::name)
                .count("opens", entry -> someOf(entry.opens()))
                .count("calls", FileAccesses.Entry::calls)
                .bytes("read", entry -> someOf(entry.readBytes()))
                .bytes("written", entry -> someOf(entry.writtenBytes()))
                .nanos("time", FileAccesses.Entry::nanos)
                .table(found.of(FILES).entries(found::shown).stream().filter(which), limit);
    }

    private static @Nullable Long someOf(long number) {
        return number == 0 ? null : number;
    }

    /** What is to be known of the names. */
    @Override
    public List<String> notes(ReportOperators found) {
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
    static List<String> lossNotes(ReportOperators found) {
        return found.of(FILES).losses() == 0 || found.of(FILES).entries(found::shown).isEmpty()
                ? List.of()
                : List.of(
                        "Events were lost: descriptors opened or closed meanwhile may bear the name"
                                + " of another file.");
    }

    private static String reason(@Nullable RecordingMeta meta) {
        if (meta == null) {
            return "only sonde's own recordings have the rows that name them";
        }
        return meta.notes().stream()
                .filter(note -> note.contains("names"))
                .findFirst()
                .orElse("the recording has no rows that name them");
    }
}
