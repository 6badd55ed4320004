package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.tools.option.CommandModel;
import sonde.tools.option.ManualPage;
import sonde.tools.option.ShellCompletion;
import sonde.tools.script.ScriptTool;

/** Writes what a package has beside the program: manual pages, and completion for three shells. */
final class Manuals {
    private Manuals() {}

    /**
     * Writes the files below a folder as they lie below /usr/share.
     *
     * @param words the folder
     */
    static int write(List<String> words, PrintWriter err) {
        if (words.size() != 1) {
            err.println("sonde: --manuals takes a folder");
            return ExitCode.USAGE;
        }
        Map<String, CommandModel> models = new LinkedHashMap<>();
        Map<String, String> summaries = new LinkedHashMap<>();
        CommandTable.all()
                .forEach(name -> {
                    CommandModel model =
                            name.equals("tool")
                                    ? ToolCommand.everyTool()
                                    : CommandTable.find(name).orElseThrow().model();
                    models.put(name, model);
                    summaries.put("sonde " + name, model.summary());
                });
        Path folder = Path.of(words.getFirst());
        List<String> pages = models.keySet().stream().map(Manuals::page).toList();
        Map<String, String> files = new LinkedHashMap<>();
        files.put(
                "man/man1/sonde.1",
                ManualPage.overview(Main.ABOUT, summaries, Main.VERSION, pages));
        models.forEach((name, model) -> {
            List<String> others =
                    pages.stream().filter(one -> one.startsWith(page(name) + "-")).toList();
            List<String> seeAlso = others.isEmpty() ? List.of("sonde") : others;
            files.put(
                    "man/man1/" + page(name) + ".1",
                    ManualPage.of(page(name), model, Main.VERSION, seeAlso));
        });
        files.putAll(ShellCompletion.files(models, ScriptTool.names()));
        try {
            for (Map.Entry<String, String> file : files.entrySet()) {
                Path path = folder.resolve(file.getKey());
                Files.createDirectories(path.getParent());
                Files.writeString(path, file.getValue());
            }
        } catch (IOException e) {
            return FailureMessages.execution(e, "", false, err);
        }
        return ExitCode.DONE;
    }

    private static String page(String name) {
        return "sonde-" + name.replace(' ', '-');
    }
}
