package sonde.cli;

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
import sonde.probe.dynamic.FunctionNames;
import sonde.probe.dynamic.Subject;

/** {@code sonde probe funcs}. */
@Command(
        addMethodSubcommands = false,
        name = "funcs",
        mixinStandardHelpOptions = true,
        description = "Lists functions that can be probed.",
        footer = {
            "",
            "Examples:",
            "  sonde probe funcs 'start_dl_*'",
            "  sonde probe funcs -x bash 'read*'",
            "",
            "Exit status: 0 found, 1 nothing matches."
        })
final class ProbeFuncsCommand implements Callable<Integer> {
    @Mixin private ProbeTarget target = new ProbeTarget();

    @Parameters(
            arity = "0..1",
            defaultValue = "*",
            paramLabel = "PATTERN",
            description = "a name or a glob")
    private String pattern = "*";

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeFuncsCommand() {}

    @Override
    public Integer call() throws Exception {
        try (Subject subject = target.open()) {
            List<String> names = FunctionNames.matching(subject, pattern);
            subject.notes().forEach(note -> Failures.say(spec.commandLine().getErr(), note));
            if (json) {
                List<List<@Nullable Object>> rows = new ArrayList<>();
                names.forEach(name -> rows.add(List.of(name)));
                Shown.onOut(new Table("functions", List.of(Column.text("function")), rows), true);
            } else {
                if (names.isEmpty()) {
                    Failures.say(
                            spec.commandLine().getErr(),
                            "no function of "
                                    + subject.path()
                                    + " matches '"
                                    + sonde.view.Escape.line(pattern)
                                    + "'"
                                    + (subject.hasEntries()
                                            ? ""
                                            : "; it has no debugging information, so that only"
                                                    + " its symbol table could be asked"));
                }
                names.forEach(
                        name -> spec.commandLine().getOut().println(sonde.view.Escape.line(name)));
            }
            return names.isEmpty() ? ExitCode.NEGATIVE : ExitCode.DONE;
        }
    }
}
