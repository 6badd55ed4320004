package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.event.result.Unit;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.SourceView;
import sonde.probe.dynamic.Subject;
import sonde.view.Escape;

/** {@code sonde probe lines}. */
@Command(
        addMethodSubcommands = false,
        name = "lines",
        mixinStandardHelpOptions = true,
        description = "Shows the source of a function or file; lines with a number take probes.",
        footer = {
            "",
            "Numbers of a function count from its first line, as FUNCTION:LINE does.",
            "",
            "Examples:",
            "  sonde probe lines start_dl_timer",
            "  sonde probe lines -x ./server server.c:100-140",
            "  sonde probe lines --source ~/linux schedule"
        })
final class ProbeLinesCommand implements Callable<Integer> {
    @Mixin private ProbeTarget target = new ProbeTarget();

    @Parameters(paramLabel = "FUNCTION[@FILE]|FILE[:FROM-TO]", description = "what is shown")
    private String what = "";

    @Option(
            names = {"-s", "--source"},
            paramLabel = "FOLDER",
            description = "where the source is, when it is not where it was compiled")
    private List<Path> sources = List.of();

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeLinesCommand() {}

    @Override
    public Integer call() throws Exception {
        try (Subject subject = target.open(PointSpec.module(what))) {
            List<SourceView> views = SourceView.of(subject, PointSpec.withoutModule(what), sources);
            if (json) {
                json(views);
                return ExitCode.DONE;
            }
            PrintWriter out = spec.commandLine().getOut();
            for (SourceView view : views) {
                print(view, out);
            }
            out.flush();
            for (SourceView view : views) {
                view.notes().forEach(note -> Failures.say(spec.commandLine().getErr(), note));
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
