package sonde.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.probe.dynamic.NamedProbes;
import sonde.view.Escape;

/** {@code sonde probe list}. */
@Command(
        addMethodSubcommands = false,
        name = "list",
        mixinStandardHelpOptions = true,
        description = "Lists the named probes of this kernel, those of other tools too.",
        footer = {
            "",
            "Examples:",
            "  sonde probe list",
            "  sonde probe list --json",
            "",
            "Exit status: 0 there are some, 1 there are none."
        })
final class ProbeListCommand implements Callable<Integer> {
    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeListCommand() {}

    @Override
    public Integer call() throws Exception {
        List<NamedProbes.Listed> all = NamedProbes.open().list();
        if (json) {
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
                Failures.say(
                        spec.commandLine().getErr(),
                        "there are no probes; sonde probe add makes them");
            }
            PrintWriter out = spec.commandLine().getOut();
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
