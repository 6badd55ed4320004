package sonde.cli;

import java.io.PrintWriter;
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
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.Subject;
import sonde.probe.dynamic.VariableView;
import sonde.view.Escape;

/** {@code sonde probe vars}. */
@Command(
        addMethodSubcommands = false,
        name = "vars",
        mixinStandardHelpOptions = true,
        description = "Lists the variables that a probe can see, with types and where they are.",
        footer = {
            "",
            "Examples:",
            "  sonde probe vars start_dl_timer:16",
            "  sonde probe vars -x ./server server.c:107"
        })
final class ProbeVarsCommand implements Callable<Integer> {
    @Mixin private ProbeTarget target = new ProbeTarget();

    @Parameters(paramLabel = "FUNCTION[:LINE]|FILE:LINE", description = "where")
    private String place = "";

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeVarsCommand() {}

    @Override
    public Integer call() throws Exception {
        try (Subject subject = target.open(PointSpec.module(place))) {
            List<VariableView> views = VariableView.of(subject, PointSpec.withoutModule(place));
            subject.notes().forEach(note -> Failures.say(spec.commandLine().getErr(), note));
            subject.foreign().ifPresent(why -> Failures.say(spec.commandLine().getErr(), why));
            if (json) {
                json(views);
                return ExitCode.DONE;
            }
            PrintWriter out = spec.commandLine().getOut();
            for (VariableView view : views) {
                out.println(
                        Escape.line(view.place())
                                + "  <"
                                + Escape.line(view.code())
                                + ">"
                                + (view.note().isEmpty() ? "" : "  " + Escape.line(view.note())));
                int width =
                        view.rows().stream()
                                .mapToInt(row -> row.type().length() + row.name().length() + 1)
                                .max()
                                .orElse(0);
                for (VariableView.Row row : view.rows()) {
                    String named = Escape.line(row.type() + " " + row.name());
                    out.println(
                            ("  %-" + Math.clamp(width, 1, 48) + "s  %s")
                                    .formatted(named, Escape.line(row.where())));
                }
            }
            return ExitCode.DONE;
        }
    }

    private static void json(List<VariableView> views) throws java.io.IOException {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (VariableView view : views) {
            for (VariableView.Row row : view.rows()) {
                rows.add(
                        List.of(
                                view.place(),
                                view.code(),
                                row.name(),
                                row.type(),
                                row.where(),
                                row.isParameter() ? "parameter" : "variable",
                                row.isAvailable() ? "yes" : "no"));
            }
        }
        Shown.onOut(
                new Table(
                        "variables",
                        List.of(
                                Column.text("place"),
                                Column.text("code"),
                                Column.text("name"),
                                Column.text("type"),
                                Column.text("where"),
                                Column.text("kind"),
                                Column.text("available")),
                        rows),
                true);
    }
}
