package sonde.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.analysis.filter.FilterException;
import sonde.binary.MalformedInputException;
import sonde.open.BrokenFileException;
import sonde.open.ReportSource;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;
import sonde.tools.report.FilterArguments;
import sonde.tools.report.ListingArguments;
import sonde.tools.report.PageFile;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportRecipe;
import sonde.tools.report.ReportRecipe.ReportPage;
import sonde.tools.report.ReportSection;
import sonde.tools.report.section.ReportSections;

/** {@code sonde report}. */
final class ReportCommand {
    /** The model up to the sections. */
    static final String OPENING =
            """
            sonde report [SECTIONS] [OPTIONS] RECORDING...

            Show where the time of a recording went: a bundle NAME.sonde, a trace.dat of trace-cmd,
            a perf.data of perf, or any other format that sonde reads. Without sections it prints a
            summary of one screen.

            Arguments:
              RECORDING...    recordings of any format; several with --events only

            Sections:
            """;

    private static final String BEHIND_SECTIONS =
            """

            Options:
              --events        list the events, one per line, as trace-cmd report does; those of a
                              perf.data as perf script does
              --own           show only the command of record -a -- COMMAND, its threads and
                              descendants
              --header        show the metadata of a perf.data: machine, events, build-ids, ...
              -g, --call-graph caller|callee
                              root call trees at the first caller, or at the function that ran
                              (default caller)
              --sort KEY,...  with --oncpu: group samples by these keys: comm, pid, tid, dso,
                              symbol, line
              --children      with --oncpu: add inclusive samples (self + callees) and sort by them
              --lines         show source lines of functions in trees and flame graphs; reading
                              debug information takes time
              --no-inline     do not show inlined calls
              --rows N        print at most N rows of a table (1..2147483647, default 40)
              --html FILE     write a self-contained page with timeline and flame graphs, - is
                              standard output
              --force         with --html: overwrite FILE if it exists
              --json          print JSON; with --events an object per line
            """
                    + FilterArguments.MODEL
                    + ListingArguments.MODEL
                    + SymbolArguments.KERNEL_SYMBOLS
                    + """

                    Not in help:
                      --after-record N  the summary of a recording that ended just now, and its exit
                                        code

                    Examples:
                      sonde report make.sonde
                      sonde report make.sonde --oncpu --comm 'cc1*'
                      sonde report make.sonde --oncpu --call-graph callee --sort comm,dso
                      sonde report make.sonde --syscalls --time 1.5,2.0
                      sonde report make.sonde --html make.html
                      sonde report make.sonde --json | jq .
                      sonde report --events trace.dat --filter 'sched/sched_switch: prev_pid == 0'

                    Environment:
                      In a pipe each row is one line; COLUMNS=100 limits the width of tables.
                      SONDE_UNPACK_MAX=20G limits the unpacked size of a compressed file; the
                      default is 200 times its size, at most 64 GiB

                    Exit status:
                      0 done, 1 nothing in it matches the filters, 2 no such file, 4 no recording or
                      damaged beyond reading
                    """;

    private final CommandCall call;
    private final GivenOptions given;
    private final List<Path> recordings;
    private final boolean events;
    private final @Nullable Path html;

    private ReportCommand(CommandCall call) {
        this.call = call;
        this.given = call.given();
        this.recordings = given.paths();
        this.events = given.has("--events");
        this.html = given.path("--html");
    }

    /** The model, with an option for each section of a report. */
    static String model() {
        StringBuilder text = new StringBuilder(OPENING);
        for (ReportSection section : ReportSections.ALL) {
            if (!section.options().isEmpty()) {
                text.append("  ").append(String.join(", ", section.options()));
                text.append("  ").append(section.help()).append('\n');
            }
        }
        return text.append(BEHIND_SECTIONS).toString();
    }

    static int run(CommandCall call) throws Exception {
        return new ReportCommand(call).run();
    }

    private int run() throws Exception {
        if (given.has("--after-record")) {
            int status = (int) given.number("--after-record").orElse(0);
            return RecordCommand.summary(recordings.getFirst(), status, call);
        }
        ReportOptions options = FilterArguments.report(given, sections());
        try {
            return report(options);
        } catch (MalformedInputException e) {
            throw BrokenFileException.of(recordings, e);
        }
    }

    private int report(ReportOptions options) throws IOException {
        try (ReportSource source =
                ReportSource.open(recordings, SymbolArguments.places(call.given(), call::say))) {
            if (given.has("--own") && !source.narrowToCommand()) {
                throw new OptionException(
                        "--own: the recording has no command, so there is no tree to select");
            }
            if (html != null) {
                PageFile file = PageFile.of(html, given.has("--force"));
                ReportPage page = new ReportRecipe(options).page(source);
                return ResultPrinter.page(file, page.report(), page.timeline(), call);
            }
            ReportRecipe recipe = new ReportRecipe(options);
            if (given.has("--header")) {
                return ResultPrinter.onOut(recipe.header(source), call.json());
            }
            return events
                    ? events(source, recipe)
                    : ResultPrinter.onOut(recipe.run(source), call.json());
        }
    }

    private int events(ReportSource source, ReportRecipe recipe) throws IOException {
        try {
            ResultPrinter.onOut(recipe.events(source), call.json());
        } catch (FilterException e) {
            throw new OptionException("--filter", e);
        }
        if (source.meta() == null) { // a listing has no place for what could not be read of a file
            source.notes().forEach(note -> call.err().println("sonde: " + note));
        }
        return ExitCode.DONE;
    }

    private List<ReportSection> sections() {
        List<ReportSection> chosen =
                ReportSections.ALL.stream()
                        .filter(section -> section.options().stream().anyMatch(given::has))
                        .toList();
        if (!chosen.isEmpty()) {
            return chosen;
        }
        return html == null ? List.of(ReportSections.SUMMARY) : ReportSections.ALL;
    }
}
