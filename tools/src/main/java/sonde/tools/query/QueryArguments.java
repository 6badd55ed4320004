package sonde.tools.query;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;

/**
 * Reads the statement, the files and the format from the words of {@code sonde query}.
 *
 * @param given options and words
 */
public record QueryArguments(GivenOptions given) {
    /** The format by option, else by the ending of the output file. */
    public OutputFormat format() {
        Path output = given.path("--output");
        String file = output == null ? "" : output.toString();
        String ending = file.substring(file.lastIndexOf('.') + 1);
        String usual = List.of("csv", "json", "parquet").contains(ending) ? ending : "table";
        String name = given.text("--format", given.has("--json") ? "json" : usual);
        OutputFormat chosen = OutputFormat.valueOf(name.toUpperCase(Locale.ROOT));
        if (chosen == OutputFormat.PARQUET && output == null) {
            throw new OptionException("--format parquet needs --output FILE");
        }
        return chosen;
    }

    /** The statement, and the files before it; null when there is none. */
    public @Nullable String statement(List<Path> files) throws IOException {
        List<String> words = given.words();
        files.addAll(given.paths());
        String name = given.text("--run");
        if (name != null) {
            return QueryLibrary.named(name)
                    .orElseThrow(() ->
                            new OptionException(
                                    "no query is called '" + name + "'; --list shows them"))
                    .sql();
        }
        Path script = given.path("--file");
        if (script != null) {
            return Files.readString(script);
        }
        String last = words.getLast();
        if (Files.exists(Path.of(last)) || last.equals("-")) {
            return null;
        }
        boolean isStatement = last.strip().contains(" ") || last.strip().startsWith("(");
        if (!isStatement && words.size() == 1) {
            return null; // a file that is not there: opening it says so
        }
        files.removeLast();
        if (files.isEmpty()) {
            throw new OptionException("no recording is named before the statement");
        }
        return last;
    }
}
