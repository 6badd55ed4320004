package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.event.result.Unit;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.SourceView;
import sonde.probe.dynamic.Subject;
import sonde.view.Escape;

/** {@code sonde probe lines}. */
final class ProbeLinesCommand {
    static final String MODEL =
            """
            sonde probe lines [OPTIONS] FUNCTION[@FILE]|FILE[:FROM-TO]

            Show the source of a function or file. Lines with a number can be probed. Line numbers
            of a function count from its first line, as in FUNCTION:LINE.

            Arguments:
              PLACE           FUNCTION, FUNCTION@FILE, FILE or FILE:FROM-TO
            """
                    + ProbeTarget.MODEL
                    + """

                    Options:
                      -s, --source DIR
                                      look for source files here if they are not where they were
                                      compiled (repeatable)
                      --json          print JSON

                    Examples:
                      sonde probe lines start_dl_timer
                      sonde probe lines -x ./server server.c:100-140
                      sonde probe lines --source ~/linux schedule
                    """;

    private final CommandCall call;

    private ProbeLinesCommand(CommandCall call) {
        this.call = call;
    }

    static int run(CommandCall call) throws Exception {
        return new ProbeLinesCommand(call).run();
    }

    private int run() throws Exception {
        String what = call.given().words().getFirst();
        List<Path> sources = call.given().texts("--source").stream().map(Path::of).toList();
        try (Subject subject = ProbeTarget.open(call, PointSpec.module(what))) {
            List<SourceView> views = SourceView.of(subject, PointSpec.withoutModule(what), sources);
            if (call.json()) {
                json(views);
                return ExitCode.DONE;
            }
            PrintWriter out = call.out();
            for (SourceView view : views) {
                print(view, out);
            }
            out.flush();
            for (SourceView view : views) {
                view.notes().forEach(note -> call.say(note));
            }
            return ExitCode.DONE;
        }
    }

    private static void print(SourceView view, PrintWriter out) {
        boolean function = view.base() > 0;
        out.println(
                "<"
                        + Escape.line(view.title())
                        + (function ? "@" + Escape.line(view.file()) + ":" + view.base() : "")
                        + ">");
        for (SourceView.Row row : view.rows()) {
            String number = row.hasCode() ? Integer.toString(row.number() - view.base()) : "";
            out.println(
                    ("%7s  %s".formatted(number, Escape.line(untabbed(row.text()))))
                            .stripTrailing());
        }
        out.println();
    }

    /** Tabs as the blanks that they stand for. */
    private static String untabbed(String text) {
        StringBuilder wide = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (c == '\t') {
                wide.append(" ".repeat(8 - wide.length() % 8));
            } else {
                wide.append(c);
            }
        }
        return wide.toString();
    }

    private static void json(List<SourceView> views) throws IOException {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (SourceView view : views) {
            for (SourceView.Row row : view.rows()) {
                rows.add(
                        List.of(
                                view.title(),
                                view.file(),
                                (long) row.number(),
                                (long) row.number() - view.base(),
                                row.hasCode() ? "yes" : "no",
                                row.text()));
            }
        }
        Shown.onOut(
                new Table(
                        "lines",
                        List.of(
                                Column.text("function"),
                                Column.text("file"),
                                new Column("line", Unit.ID),
                                new Column("number", Unit.ID),
                                Column.text("probe"),
                                Column.text("text")),
                        rows),
                true);
    }
}
