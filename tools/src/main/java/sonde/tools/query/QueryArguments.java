package sonde.tools.query;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sonde.symbol.files.GivenPlaces;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;

/**
 * Reads the statement, the files and the format from the words of {@code sonde query}.
 *
 * @param given options and words
 */
public record QueryArguments(GivenOptions given) {
    /** The command, its arguments and options. */
    public static final String MODEL =
            """
            sonde query [OPTIONS] FILE... 'SELECT ...'
            sonde query [OPTIONS] FILE... --file FILE.sql | --run NAME
            sonde query [OPTIONS] FILE...
            sonde query --list

            Run SQL (DuckDB) on recordings. Every event type is a table, and so is what reports know
            of threads, their states, slices, samples and losses. Without a statement, on a
            terminal, there is a prompt. docs/sql.md lists tables and columns.

            In place of a file, proc: is the running system (processes, mappings, kernel modules),
            and proc:PID[,PID] are some of its processes.

            Arguments:
              [FILE...]       recordings, then a statement

            Options:
              --file FILE     run the statements of this file
              --run NAME      run a query that comes with sonde
              --list          list the queries that come with sonde
              --format table|csv|json|parquet
                              write rows in this format; json is an object per line; without it
                              the ending of --output names the format, and table is the default
              --json          same as --format json
              -o, --output FILE
                              write rows into a new file
              --force         overwrite the file of --output if it exists
              --interval TIME
                              repeat a statement on proc: at this interval, until Ctrl-C
              --repeat N      end --interval after N runs of the statement
              --no-cache      neither read nor write tables in index/ or in the cache folder
            """
                    + SymbolArguments.KERNEL_SYMBOLS
                    + """
                      -f = --file

                    Examples:
                      sonde query make.sonde 'SELECT name, count(*) FROM events GROUP BY ALL'
                      sonde query trace.dat 'SELECT next_comm, count(*) FROM "sched.sched_switch"
                                             GROUP BY 1'
                      sonde query make.sonde --run run-queue-latency
                      sonde query a.sonde b.sonde 'SELECT trace_id, count(*) FROM events GROUP BY 1'
                      sonde query proc: 'SELECT name, state, threads FROM "proc.process"'
                      sonde query proc: --interval 1s 'SELECT sum(threads) FROM "proc.process"'
                      sonde query make.sonde -o out.parquet 'SELECT * FROM thread_state'

                    Exit status:
                      0 done, 2 wrong statement or no such file, 4 no recording or damaged beyond
                      reading
                    """;

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

    /**
     * The statement of {@code --interval}.
     *
     * @throws OptionException when something else is asked than rows of the running system
     */
    public RepeatedQuery repeated(List<Path> files, @Nullable String sql, GivenPlaces places) {
        long nanos = given.nanos("--interval").orElse(0);
        long count = given.number("--repeat").orElse(Long.MAX_VALUE);
        boolean running = files.stream().allMatch(file -> file.toString().startsWith("proc:"));
        if (sql == null || given.has("--output") || !running || nanos == 0 || count < 1) {
            throw new OptionException(
                    "--interval needs a time, proc: and a statement, and cannot be combined with"
                            + " --output");
        }
        return new RepeatedQuery(files, places, sql, nanos, count);
    }
}
