package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jline.reader.Candidate;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal.Signal;
import org.jline.terminal.TerminalBuilder;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryCompletion;
import sonde.tools.query.QueryException;
import sonde.tools.query.QueryLibrary;
import sonde.tools.query.QueryRecipe;

/**
 * The prompt of {@code sonde query}: statements end with a semicolon, commands begin with a dot;
 * Tab completes names of tables and, once a table was named, of its columns.
 */
final class QueryShell {
    private final QueryRecipe query;
    private final OutputFormat format;
    private final QueryCompletion completion;

    QueryShell(QueryRecipe query, OutputFormat format) {
        this.query = query;
        this.format = format == OutputFormat.PARQUET ? OutputFormat.TABLE : format;
        completion = new QueryCompletion(query);
    }

    /** Reads and answers until the end of input. */
    int run() throws IOException {
        // stty and tty do what is needed; JLine's native library is not loaded.
        try (org.jline.terminal.Terminal terminal =
                TerminalBuilder.builder().system(true).provider("exec").build()) {
            LineReader reader =
                    LineReaderBuilder.builder()
                            .terminal(terminal)
                            .appName("sonde")
                            .completer((self, line, found) ->
                                    completion.of(line.word()).stream()
                                            .map(Candidate::new)
                                            .forEach(found::add))
                            .variable(LineReader.HISTORY_FILE, history())
                            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                            .option(LineReader.Option.CASE_INSENSITIVE, true)
                            .build();
            terminal.handle(Signal.INT, signal -> query.interrupt());
            terminal.writer()
                    .println(
                            "SQL over " + completion.tables().size() + " tables; .help says more.");
            loop(reader, terminal.writer());
            return ExitCode.DONE;
        }
    }

    private static Path history() {
        String state = System.getenv("XDG_STATE_HOME");
        Path folder =
                state == null || state.isEmpty()
                        ? Path.of(System.getProperty("user.home"), ".local", "state")
                        : Path.of(state);
        return folder.resolve("sonde").resolve("query-history");
    }

    private void loop(LineReader reader, PrintWriter out) throws IOException {
        StringBuilder statement = new StringBuilder();
        while (true) {
            String line;
            try {
                line = reader.readLine(statement.isEmpty() ? "sonde> " : "   ... ");
            } catch (UserInterruptException e) {
                statement.setLength(0);
                continue;
            } catch (EndOfFileException e) {
                return;
            }
            String text = line.strip();
            if (statement.isEmpty() && text.startsWith(".")) {
                if (!command(text, out)) {
                    return;
                }
            } else if (!text.isEmpty() || !statement.isEmpty()) {
                statement.append(line).append('\n');
                if (text.endsWith(";")) {
                    answer(statement.toString(), out);
                    statement.setLength(0);
                }
            }
            out.flush();
        }
    }

    private boolean command(String text, PrintWriter out) throws IOException {
        String[] words = text.split("\\s+", 2);
        switch (words[0].toLowerCase(Locale.ROOT)) {
            case ".quit", ".exit" -> {
                return false;
            }
            case ".tables" -> completion.tables().forEach(out::println);
            case ".list" -> {
                out.flush();
                ResultPrinter.onOut(QueryLibrary.listing(), false);
            }
            case ".run" -> {
                Optional<QueryLibrary.Query> found =
                        QueryLibrary.named(words.length > 1 ? words[1] : "");
                if (found.isPresent()) {
                    answer(found.get().sql(), out);
                } else {
                    out.println("no such query; .list shows them");
                }
            }
            default ->
                    out.println(
                            ".tables  .list  .run NAME  .quit; everything else is SQL, up to a semicolon");
        }
        return true;
    }

    private void answer(String sql, PrintWriter out) {
        try {
            out.flush();
            ResultPrinter.onOut(query.rows(sql), QueryCommand.form(format));
            query.keep();
            completion.remember(sql);
        } catch (QueryException e) {
            FailureMessages.sayWithColumns(out, String.valueOf(e.getMessage()));
        } catch (IOException e) {
            FailureMessages.say(out, FailureMessages.message(e));
        }
    }
}
