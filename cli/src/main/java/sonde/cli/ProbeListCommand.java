package sonde.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.probe.dynamic.NamedProbes;
import sonde.view.Escape;

/** {@code sonde probe list}. */
final class ProbeListCommand {
    static final String MODEL =
            """
            sonde probe list [OPTIONS]

            List the named probes of this kernel, including those of other tools.

            Options:
              --json          print JSON

            Examples:
              sonde probe list

            Exit status:
              0 there are some, 1 there are none
            """;

    private final CommandCall call;

    private ProbeListCommand(CommandCall call) {
        this.call = call;
    }

    static int run(CommandCall call) throws Exception {
        return new ProbeListCommand(call).run();
    }

    private int run() throws Exception {
        List<NamedProbes.Listed> all = NamedProbes.open().list();
        if (call.json()) {
            List<List<@Nullable Object>> rows = new ArrayList<>();
            for (NamedProbes.Listed one : all) {
                rows.add(
                        List.of(
                                one.event(),
                                one.kind(),
                                one.place(),
                                one.arguments(),
                                one.source(),
                                one.isOurs() ? "sonde" : "",
                                one.changed()));
            }
            Shown.onOut(
                    new Table(
                            "probes",
                            List.of(
                                    Column.text("event"),
                                    Column.text("kind"),
                                    Column.text("place"),
                                    Column.text("arguments"),
                                    Column.text("source"),
                                    Column.text("by"),
                                    Column.text("changed")),
                            rows),
                    true);
        } else {
            if (all.isEmpty()) {
                call.say("there are no probes; sonde probe add makes them");
            }
            PrintWriter out = call.out();
            for (NamedProbes.Listed one : all) {
                String shown =
                        one.isOurs()
                                ? "on " + one.source()
                                : "on "
                                        + one.place()
                                        + " "
                                        + one.arguments()
                                        + "   (not made by sonde probe)";
                shown += one.changed().isEmpty() ? "" : "   (" + changed(one) + ")";
                out.println("%-32s %s".formatted(one.event(), Escape.line(shown)).stripTrailing());
            }
        }
        return all.isEmpty() ? ExitCode.NEGATIVE : ExitCode.DONE;
    }

    /** That the kernel still probes the file that was there before. */
    static String changed(NamedProbes.Listed one) {
        return one.changed() + " was changed since, the probe is in the old file: add it again";
    }
}
