package sonde.cli;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import sonde.analysis.filter.FilterException;
import sonde.event.result.Report;
import sonde.format.MalformedInputException;
import sonde.open.ReportSource;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportRecipe;
import sonde.tools.report.ReportSection;
import sonde.tools.report.StackOptions;
import sonde.tools.report.section.ReportSections;
import sonde.view.HtmlRenderer;

/** {@code sonde report}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        customSynopsis = "sonde report [SECTIONS] [FILTERS] RECORDING…",
        description = {
            "Says where the time of a recording went: a bundle NAME.sonde, a trace.dat of trace-cmd"
                    + " or a perf.data of perf. Without sections: a screenful of everything."
        },
        footer = {
            "",
            "Examples:",
            "  sonde report make.sonde",
            "  sonde report make.sonde --oncpu --comm 'cc1*'",
            "  sonde report make.sonde --oncpu --call-graph callee --sort comm,dso",
            "  sonde report make.sonde --syscalls --time 1.5,2.0",
            "  sonde report make.sonde --html make.html",
            "  sonde report make.sonde --json | jq .",
            "  sonde report --events trace.dat --filter 'sched/sched_switch: prev_comm ~ \"sh*\"'",
            "",
            "Where no terminal is, tables have 80 columns; COLUMNS=200 in the environment gives 200.",
            "",
            "Exit status: 0 done, 1 nothing in it fits the filters, 2 no such file, 4 no recording or"
                    + " damaged beyond reading."
        })
final class ReportCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(
            paramLabel = "RECORDING",
            arity = "1..*",
            description = "a bundle, a trace.dat or a perf.data; with --events several files")
    private List<Path> recordings = new ArrayList<>();

    @Mixin private FilterArguments filters = new FilterArguments();

    @Mixin private ListingArguments listing = new ListingArguments();

    @Mixin private KernelSymbolArguments symbols = new KernelSymbolArguments();

    @Option(
            names = "--events",
            description =
                    "the events, one a line, as trace-cmd report; of a perf.data by itself as perf"
                            + " script")
    private boolean events;

    @Option(
            names = {"-g", "--call-graph"},
            paramLabel = "caller|callee",
            defaultValue = "caller",
            description =
                    "which end of call chains is the root of the trees: the first caller, or the"
                            + " function that ran")
    private String callGraph = "caller";

    @Option(
            names = "--sort",
            split = ",",
            paramLabel = "KEY",
            description =
                    "with --oncpu: what samples of one row have in common: comm, pid, tid, dso,"
                            + " symbol, line")
    private List<String> sort = new ArrayList<>();

    @Option(
            names = "--children",
            description = "with --oncpu: also the samples in what a function called; sorts by them")
    private boolean withCallees;

    @Option(
            names = "--lines",
            description =
                    "functions in trees and flame graphs with their lines, which debugging"
                            + " information tells; it takes as long as reading that")
    private boolean lines;

    @Option(
            names = "--no-inline",
            description = "leave out calls that were inlined, which debugging information tells")
    private boolean withoutInlined;

    @Option(
            names = "--header",
            description = "what a perf.data says of itself: machine, events, build ids, …")
    private boolean header;

    @Option(
            names = "--rows",
            paramLabel = "N",
            defaultValue = "40",
            description = "most rows of a table (default ${DEFAULT-VALUE})")
    private int rows = 40;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description =
                    "write one self-contained page with timeline and flame graphs; - is standard"
                            + " output, a file that is there is kept")
    private @Nullable Path html;

    @Option(names = "--force", description = "with --html: overwrite a file that is there")
    private boolean force;

    @Option(names = "--json", description = "as JSON; --events as one object a line")
    private boolean json;

    @Option(
            names = "--after-record",
            hidden = true,
            description = "the summary of a recording that ended just now, and its exit code")
    private @Nullable Integer afterRecord;

    ReportCommand() {}

    @Override
    public Integer call() throws Exception {
        if (afterRecord != null) {
            return afterRecord(afterRecord);
        }
        ReportOptions options = options();
        checkArguments(options);
        try {
            return report(options);
        } catch (MalformedInputException e) {
            throw BrokenFileException.of(recordings, e);
        }
    }

    private int report(ReportOptions options) throws IOException {
        try (ReportSource source = ReportSource.open(recordings, symbols.given())) {
            if (html != null) {
                page(source, options, html);
                return ExitCode.DONE;
            }
            if (header) {
                Shown.onOut(new ReportRecipe(options).header(source), json);
                return ExitCode.DONE;
            }
            if (events) {
                events(source, options);
                return ExitCode.DONE;
            }
            Shown.onOut(new ReportRecipe(options).run(source), json);
            return ExitCode.DONE;
        }
    }

    private void events(ReportSource source, ReportOptions options) throws IOException {
        try {
            Shown.onOut(new ReportRecipe(options).events(source), json);
        } catch (FilterException e) {
            throw new ParameterException(spec.commandLine(), "--filter", e);
        }
        tellNotes(source);
    }

    /** A listing has no place for what could not be read of a file. */
    private void tellNotes(ReportSource source) {
        if (source.meta() == null) {
            source.notes().forEach(note -> spec.commandLine().getErr().println("sonde: " + note));
        }
    }

    private int afterRecord(int status) throws Exception {
        Report summary = ReportSections.summary(recordings.getFirst());
        if (json) {
            Shown.onOut(summary, true);
        } else {
            Shown.onErr(summary);
            NextSteps.print(recordings.getFirst(), spec.commandLine().getErr());
        }
        return status;
    }

    private void checkArguments(ReportOptions options) {
        CommandLine line = spec.commandLine();
        if (html != null && json) {
            throw new ParameterException(line, "--html and --json exclude each other");
        }
        if (recordings.size() > 1 && !events) {
            throw new ParameterException(line, "several files are listed with --events only");
        }
        if (html != null && events) {
            throw new ParameterException(line, "--html and --events exclude each other");
        }
        if (rows < 1) {
            throw new ParameterException(line, "--rows " + rows + " shows nothing; give 1 or more");
        }
        List<String> ofListings = options.listing().given();
        if (!ofListings.isEmpty() && !events) {
            throw new ParameterException(line, ofListings.getFirst() + " needs --events");
        }
        if (!filters.types().isEmpty()
                && !events
                && options.sections().stream().noneMatch(ReportSection::takesEventNames)) {
            throw new ParameterException(line, "--event needs --events or --stats");
        }
    }

    /** A file that is there is refused before the recording is read. */
    private void page(ReportSource source, ReportOptions options, Path file) throws IOException {
        boolean toOut = file.toString().equals("-");
        if (!toOut && !force && Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(file.toString());
        }
        ReportRecipe.Page page = new ReportRecipe(options).page(source);
        if (toOut) {
            Shown.page(page.report(), page.timeline());
            return;
        }
        OpenOption[] how =
                force
                        ? new OpenOption[] {
                            StandardOpenOption.CREATE,
                            StandardOpenOption.TRUNCATE_EXISTING,
                            StandardOpenOption.WRITE
                        }
                        : new OpenOption[] {
                            StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE
                        };
        try (OutputStream out =
                new BufferedOutputStream(Files.newOutputStream(file, how), 1 << 16)) {
            new HtmlRenderer().write(page.report(), page.timeline(), out);
        }
        spec.commandLine().getErr().println("written: " + file);
    }

    private ReportOptions options() {
        return new ReportOptions(
                sections(),
                filters.from(spec),
                filters.to(spec),
                filters.tids(),
                filters.comms(),
                filters.types(),
                rows,
                listing.options(spec, filters),
                stackOptions());
    }

    private StackOptions stackOptions() {
        StackOptions.Order order =
                switch (callGraph) {
                    case "caller" -> StackOptions.Order.CALLER;
                    case "callee" -> StackOptions.Order.CALLEE;
                    default ->
                            throw new ParameterException(
                                    spec.commandLine(),
                                    "--call-graph is caller or callee, not '" + callGraph + "'");
                };
        List<StackOptions.SortKey> keys = new ArrayList<>();
        for (String name : sort) {
            try {
                keys.add(StackOptions.SortKey.named(name));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(
                        spec.commandLine(),
                        "--sort takes comm, pid, tid, dso, symbol and line, not '" + name + "'");
            }
        }
        return new StackOptions(
                order,
                keys.isEmpty() ? StackOptions.DEFAULT.keys() : keys,
                withCallees,
                !withoutInlined,
                lines || keys.contains(StackOptions.SortKey.LINE));
    }

    /** Adds an option for each section of a report. */
    static void addSections(CommandSpec spec) {
        for (ReportSection section : ReportSections.ALL) {
            if (!section.options().isEmpty()) {
                spec.addOption(
                        OptionSpec.builder(section.options().toArray(String[]::new))
                                .description(section.help())
                                .type(boolean.class)
                                .arity("0")
                                .build());
            }
        }
    }

    private List<ReportSection> sections() {
        ParseResult given = spec.commandLine().getParseResult();
        List<ReportSection> chosen =
                ReportSections.ALL.stream()
                        .filter(section ->
                                section.options().stream().anyMatch(given::hasMatchedOption))
                        .toList();
        if (!chosen.isEmpty()) {
            return chosen;
        }
        return html == null ? List.of(ReportSections.SUMMARY) : ReportSections.ALL;
    }
}
