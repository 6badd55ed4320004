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
        Map<String, CommandModel> models = models();
        Path folder = Path.of(words.getFirst());
        Map<String, String> files = ManualPage.files(models, Main.ABOUT, Main.VERSION);
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

    /** The models of all commands by full name. */
    static Map<String, CommandModel> models() {
        Map<String, CommandModel> models = new LinkedHashMap<>();
        for (String name : CommandTable.all()) {
            boolean isTool = name.equals("tool");
            models.put(
                    name,
                    isTool
                            ? ToolCommand.everyTool()
                            : CommandTable.find(name).orElseThrow().model());
        }
        return models;
    }
}
