package sonde.tools.report;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.analysis.file.Files;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Unit;
import sonde.format.bundle.Meta;
import sonde.sys.Errno;

/** The tables of files and peers. */
final class FileSections {
    /** Below this all together is nothing that a summary should speak of. */
    private static final long WORTH_NANOS = 1_000_000;

    private static final long WORTH_BYTES = 1 << 20;

    private final Findings found;
    private final int limit;

    FileSections(Findings found, int limit) {
        this.found = found;
        this.limit = limit;
    }

    /** Files, peers, and what could not be opened. */
    List<Result> all() {
        return List.of(
                table("files", "file", entry -> !entry.peer()),
                table("peers: sockets and pipes", "peer", Files.Entry::peer),
                failures());
    }

    /** The hottest of both for a summary; empty when none took time or bytes to speak of. */
    Table top() {
        return table(
                "files and peers",
                "name",
                entry ->
                        entry.nanos() >= WORTH_NANOS
                                || entry.readBytes() + entry.writtenBytes() >= WORTH_BYTES);
    }

    private Table table(String title, String name, Predicate<Files.Entry> which) {
        Rows rows =
                new Rows(title)
                        .column(name, Unit.TEXT)
                        .column("opens", Unit.COUNT)
                        .column("calls", Unit.COUNT)
                        .column("read", Unit.BYTES)
                        .column("written", Unit.BYTES)
                        .column("time", Unit.NANOS);
        found.files.entries(found::shown).stream()
                .filter(which)
                .limit(limit)
                .forEach(entry ->
                        rows.add(
                                entry.name(),
                                entry.opens() == 0 ? null : entry.opens(),
                                entry.calls(),
                                entry.readBytes() == 0 ? null : entry.readBytes(),
                                entry.writtenBytes() == 0 ? null : entry.writtenBytes(),
                                entry.nanos()));
        return rows.table();
    }

    private Table failures() {
        Rows rows =
                new Rows("failed to open, execute or connect")
                        .column("name", Unit.TEXT)
                        .column("error", Unit.TEXT)
                        .column("count", Unit.COUNT);
        found.files.failures(found::shown).stream()
                .limit(limit)
                .forEach(failure ->
                        rows.add(failure.name(), Errno.name(failure.errno()), failure.count()));
        return rows.table();
    }

    /** What is to be known of the names. */
    static List<String> notes(@Nullable Meta meta, Findings found) {
        List<String> notes = new ArrayList<>();
        if (!found.files.sawNames()) {
            notes.add(
                    "Files have no names but those that /proc showed at the start: "
                            + reason(meta)
                            + ".");
        }
        notes.addAll(lossNotes(found));
        return notes;
    }

    /** What losses do to the names of files. */
    static List<String> lossNotes(Findings found) {
        return found.files.losses() == 0
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
