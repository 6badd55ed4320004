package sonde.cli;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.format.MalformedInputException;
import sonde.tools.query.Library;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryException;
import sonde.tools.query.QueryRecipe;

/** {@code sonde query}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        customSynopsis = {
            "sonde query FILE... 'SELECT ...'",
            "sonde query FILE... -f FILE.sql | --run NAME | --list",
            "sonde query FILE..."
        },
        description = {
            "Asks recordings in SQL (DuckDB): every event type is a table, and so is what reports"
                    + " know of threads, their states, slices, samples and losses. Without a"
                    + " statement, on a terminal: a prompt. docs/sql.md lists tables and columns.",
            "proc: in place of a file is the running system now (processes, mappings, kernel"
                    + " modules), proc:PID[,PID] some of its processes."
        },
        footer = {
            "",
            "Examples:",
            "  sonde query make.sonde 'SELECT name, count(*) FROM events GROUP BY ALL'",
            "  sonde query trace.dat 'SELECT next_comm, count(*) FROM \"sched.sched_switch\" GROUP"
                    + " BY 1'",
            "  sonde query make.sonde --list",
            "  sonde query make.sonde --run run-queue-latency",
            "  sonde query a.sonde b.sonde 'SELECT trace_id, count(*) FROM events GROUP BY 1'",
            "  sonde query proc: 'SELECT name, state, threads FROM \"proc.process\"'",
            "  sonde query make.sonde -o out.parquet 'SELECT * FROM thread_state'",
            "",
            "Exit status: 0 done, 2 wrong statement or no such file, 4 no recording or damaged"
                    + " beyond reading."
        })
final class QueryCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "recordings, then a statement")
    private List<String> words = new ArrayList<>();

    @Option(names = "-f", paramLabel = "FILE.sql", description = "run the statements of a file")
    private @Nullable Path script;

    @Option(names = "--run", paramLabel = "NAME", description = "run a query that sonde brings")
    private @Nullable String run;

    @Option(names = "--list", description = "list the queries that sonde brings")
    private boolean list;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "table (default), csv, json (an object a line) or parquet")
    private @Nullable String format;

    @Option(
            names = "-o",
            paramLabel = "FILE",
            description = "write into a file; its ending chooses the format")
    private @Nullable Path output;

    @Option(
            names = "--no-cache",
            description = "neither take tables from index/ or the cache folder nor keep them")
    private boolean noCache;

    @Mixin private KernelSymbolArguments symbols = new KernelSymbolArguments();

    QueryCommand() {}

    @Override
    public Integer call() throws Exception {
        if (list) {
            return Shown.onOut(Library.listing(), "json".equals(format));
        }
        OutputFormat chosen = format();
        List<Path> files = new ArrayList<>();
        String sql = statement(files);
        if (sql == null && Terminal.width(Terminal.STDOUT) == 0) {
            throw wrong("no statement: give one, or -f FILE.sql, or --run NAME");
        }
        try (QueryRecipe query = QueryRecipe.open(files, symbols.given(), output, !noCache)) {
            for (String note : query.notes()) {
                Failures.say(spec.commandLine().getErr(), note);
            }
            if (sql == null) {
                return new QueryShell(query, chosen).run();
            }
            return answer(query, sql, chosen);
        } catch (MalformedInputException e) {
            throw BrokenFileException.of(files, e);
        }
    }

    private int answer(QueryRecipe query, String sql, OutputFormat chosen) throws Exception {
        try {
            if (output != null) {
                query.runInto(sql, chosen);
            } else {
                Shown.onOut(query.rows(sql), form(chosen));
            }
            query.keep();
            return ExitCode.DONE;
        } catch (QueryException e) {
            complain(spec.commandLine().getErr(), e);
            return ExitCode.USAGE;
        }
    }

    /** How rows are shown; Parquet goes into files. */
    static Shown.Form form(OutputFormat format) {
        return switch (format) {
            case CSV -> Shown.Form.CSV;
            case JSON -> Shown.Form.JSON;
            case TABLE, PARQUET -> Shown.Form.TEXT;
        };
    }

    /** What is wrong on one line, where on the next. */
    static void complain(PrintWriter err, QueryException failure) {
        String[] lines = String.valueOf(failure.getMessage()).split("\n", 2);
        Failures.say(err, lines[0]);
        if (lines.length > 1) {
            err.println("       " + sonde.view.Escape.line(lines[1]));
        }
    }

    private OutputFormat format() {
        String name = format;
        if (name == null) {
            String file = output == null ? "" : output.toString();
            name = file.substring(file.lastIndexOf('.') + 1);
            name = List.of("csv", "json", "parquet").contains(name) ? name : "table";
        }
        OutputFormat chosen;
        try {
            chosen = OutputFormat.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw wrong("--format takes table, csv, json or parquet, not '" + name + "'");
        }
        if (chosen == OutputFormat.PARQUET && output == null) {
            throw wrong("--format parquet needs -o FILE");
        }
        return chosen;
    }

    /** The statement, and the files before it; null when there is none. */
    private @Nullable String statement(List<Path> files) throws Exception {
        words.forEach(word -> files.add(Path.of(word)));
        String name = run;
        if (name != null) {
            return Library.named(name)
                    .orElseThrow(
                            () -> wrong("no query is called '" + name + "'; --list shows them"))
                    .sql();
        }
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
            throw wrong("no recording is named before the statement");
        }
        return last;
    }

    private ParameterException wrong(String what) {
        return new ParameterException(spec.commandLine(), what);
    }
}
