package sonde.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.Subject;
import sonde.probe.dynamic.VariableView;
import sonde.view.Escape;

/** {@code sonde probe vars}. */
final class ProbeVarsCommand {
    static final String MODEL =
            """
            sonde probe vars [OPTIONS] FUNCTION[:LINE]|FILE:LINE

            List the variables that a probe can read at a place, with their types and locations.

            Arguments:
              PLACE           FUNCTION, FUNCTION:LINE or FILE:LINE
            """
                    + ProbeTarget.MODEL
                    + """

                    Options:
                      --json          print JSON

                    Examples:
                      sonde probe vars start_dl_timer:16
                      sonde probe vars -x ./server server.c:107
                    """;

    private final CommandCall call;

    private ProbeVarsCommand(CommandCall call) {
        this.call = call;
    }

    static int run(CommandCall call) throws Exception {
        return new ProbeVarsCommand(call).run();
    }

    private int run() throws Exception {
        String place = call.given().words().getFirst();
        try (Subject subject = ProbeTarget.open(call, PointSpec.module(place))) {
            List<VariableView> views = VariableView.of(subject, PointSpec.withoutModule(place));
            subject.notes().forEach(note -> call.say(note));
            subject.foreign().ifPresent(why -> call.say(why));
            if (call.json()) {
                json(views);
                return ExitCode.DONE;
            }
            PrintWriter out = call.out();
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
