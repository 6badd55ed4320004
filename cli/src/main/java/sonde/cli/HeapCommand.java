package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.tools.heap.HeapArguments;
import sonde.tools.heap.HeapPage;
import sonde.tools.heap.HeapViewArguments;
import sonde.tools.option.GivenOptions;
import sonde.tools.report.PageFile;

/** {@code sonde heap}. */
final class HeapCommand {
    static final String MODEL = HeapViewArguments.MODEL;

    private HeapCommand() {}

    static int run(CommandCall call) throws Exception {
        boolean isFile = HeapViewArguments.namesFile(call.given());
        GivenOptions given = isFile ? HeapViewArguments.aroundFiles(call.given()) : call.given();
        Path html = given.path("--html");
        PageFile file = html == null ? null : PageFile.of(html, given.has("--overwrite"));
        if (isFile) {
            if (file == null) {
                return ResultPrinter.onOut(HeapViewArguments.report(given), given.has("--json"));
            }
            HeapPage page = HeapViewArguments.page(given);
            return ResultPrinter.page(file, page.report(), page.timeline(), call);
        }
        InheritedState origin = InheritedState.capture();
        List<String> words = given.words();
        CommandWords command =
                words.isEmpty() ? null : CommandWords.of(words.toArray(String[]::new));
        try {
            HeapArguments.Watched watched = HeapArguments.watch(given, origin, command);
            if (file == null) {
                ResultPrinter.onOut(
                        HeapViewArguments.report(watched.profile(), given), call.json());
            } else {
                HeapPage page = HeapViewArguments.page(watched.profile(), given);
                ResultPrinter.page(file, page.report(), page.timeline(), call);
            }
            return watched.status();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        }
    }
}
