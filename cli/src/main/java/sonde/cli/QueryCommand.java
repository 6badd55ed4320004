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
            return repeat(arguments, files, sql, chosen);
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

    private int repeat(
            QueryArguments arguments, List<Path> files, @Nullable String sql, OutputFormat chosen)
            throws Exception {
        GivenPlaces places = SymbolArguments.places(call.given(), call::say);
        try (RepeatedQuery query = arguments.repeated(files, sql, places);
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
