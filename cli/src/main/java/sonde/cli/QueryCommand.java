package sonde.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.cli.ResultPrinter.OutputForm;
import sonde.event.result.LiveResult;
import sonde.open.BrokenFileException;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.PrivateOutput;
import sonde.symbol.files.GivenPlaces;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryArguments;
import sonde.tools.query.QueryException;
import sonde.tools.query.QueryLibrary;
import sonde.tools.query.QueryRecipe;
import sonde.tools.query.RepeatedQuery;

/** {@code sonde query}. */
final class QueryCommand {
    static final String MODEL =
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

    private final CommandCall call;
    private final GivenOptions given;
    private final @Nullable Path output;

    private QueryCommand(CommandCall call) {
        this.call = call;
        this.given = call.given();
        this.output = given.path("--output");
    }

    static int run(CommandCall call) throws Exception {
        if (call.has("--list")) {
            String format = call.given().text("--format", "table");
            return ResultPrinter.onOut(
                    QueryLibrary.listing(), call.json() || format.equals("json"));
        }
        if (call.given().words().isEmpty()) {
            throw new OptionException("a word is missing: FILE...");
        }
        return new QueryCommand(call).run();
    }

    private int run() throws Exception {
        QueryArguments arguments = new QueryArguments(given);
        OutputFormat chosen = arguments.format();
        List<Path> files = new ArrayList<>();
        String sql = arguments.statement(files);
        if (sql == null && TerminalKind.width(TerminalKind.STDOUT) == 0) {
            throw new OptionException("no statement: give one, or --file FILE.sql, or --run NAME");
        }
        if (given.has("--interval") || given.has("--repeat")) {
            return repeat(files, sql, chosen);
        }
        PrivateOutput file = output == null ? null : PrivateOutput.of(output, given.has("--force"));
        try (QueryRecipe query =
                QueryRecipe.open(
                        files,
                        SymbolArguments.places(call.given(), call::say),
                        file,
                        !given.has("--no-cache"))) {
            call.say(query.notes());
            if (sql == null) {
                WaitLine.end();
                return new QueryShell(query, chosen).run();
            }
            return answer(query, sql, chosen);
        } catch (MalformedInputException e) {
            throw BrokenFileException.of(files, e);
        }
    }

    private int repeat(List<Path> files, @Nullable String sql, OutputFormat chosen)
            throws Exception {
        long nanos = given.nanos("--interval").orElse(0);
        long count = given.number("--repeat").orElse(Long.MAX_VALUE);
        boolean running = files.stream().allMatch(file -> file.toString().startsWith("proc:"));
        if (sql == null || output != null || !running || nanos == 0 || count < 1) {
            throw new OptionException(
                    "--interval needs a time, proc: and a statement, and cannot be combined with"
                            + " --output");
        }
        GivenPlaces places = SymbolArguments.places(call.given(), call::say);
        try (RepeatedQuery query = new RepeatedQuery(files, places, sql, nanos, count);
                EndSignals _ = EndSignals.listen(_ -> query.end())) {
            return ResultPrinter.onOut(new LiveResult("", query), form(chosen));
        } catch (QueryException e) {
            FailureMessages.sayWithColumns(call.err(), String.valueOf(e.getMessage()));
            return ExitCode.USAGE;
        }
    }

    private int answer(QueryRecipe query, String sql, OutputFormat chosen) throws Exception {
        try {
            if (output != null) {
                query.runInto(sql, chosen);
            } else {
                ResultPrinter.onOut(query.rows(sql), form(chosen));
            }
            query.keep();
            return ExitCode.DONE;
        } catch (QueryException e) {
            FailureMessages.sayWithColumns(call.err(), String.valueOf(e.getMessage()));
            return ExitCode.USAGE;
        }
    }

    /** How rows are shown; Parquet goes into files. */
    static OutputForm form(OutputFormat format) {
        return switch (format) {
            case CSV -> OutputForm.CSV;
            case JSON -> OutputForm.JSON;
            case TABLE, PARQUET -> OutputForm.TEXT;
        };
    }
}
