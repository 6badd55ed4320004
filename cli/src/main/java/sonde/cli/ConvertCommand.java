package sonde.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import sonde.analysis.filter.FilterException;
import sonde.binary.MalformedInputException;
import sonde.cli.ResultPrinter.StandardOutput;
import sonde.open.BrokenFileException;
import sonde.probe.launch.PrivateOutput;
import sonde.tools.convert.ConvertRecipe;
import sonde.tools.convert.ConvertRecipe.ConvertOutcome;
import sonde.tools.convert.ConvertRecipe.EventChoice;
import sonde.tools.convert.ConvertTarget;
import sonde.tools.convert.ConvertTarget.StreamTarget;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;
import sonde.tools.report.FilterArguments;
import sonde.tools.report.ReportOptions;

/** {@code sonde convert}. */
final class ConvertCommand {
    static final String MODEL =
            """
            sonde convert [OPTIONS] IN OUT

            Write a recording in the format of another tool. From a bundle it takes the events of
            the recorded processes, as reports do. Standard error lists with counts what the format
            cannot hold.

            Arguments:
              IN              a recording of any format
              OUT             a new file or folder, or - for standard output

            Options:
              --to FORMAT     write this format; without it the ending of OUT names the format
              --force         overwrite OUT if it exists
              -a, --all       include events of other processes and of the recorder itself
            """
                    + FilterArguments.MODEL
                    + SymbolArguments.KERNEL_SYMBOLS
                    + """
                      -f = --force

                    Formats:
                      tracedat (.dat)      trace.dat v7 for trace-cmd and KernelShark
                      perfdata (.data)     perf.data for perf and hotspot
                      ctf (.ctf, a folder) CTF 2; ctf1 is CTF 1.8 for babeltrace2 before 2.1
                      parquet (.parquet)   all events in a file
                      parquet-folder       a file for each event type, with typed columns
                      perfetto, chrome, pprof, firefox, speedscope, folded, pcapng, csv, jsonl

                    Examples:
                      sonde convert perf.data out.pb.gz        for pprof
                      sonde convert trace.dat out.pftrace      for ui.perfetto.dev
                      sonde convert run.jfr - --to folded      to standard output
                      sonde convert perf.data trace.dat        then trace-cmd report trace.dat
                      sonde convert lttng/ perf.data           then perf script -i perf.data
                      sonde convert trace.dat made --to ctf1   then babeltrace2 made
                      sonde convert make.sonde cc1.pb.gz --comm 'cc1*' --time 1.5,2.0

                    Exit status:
                      0 written, 1 nothing in it matches the filters, 4 the input is malformed
                    """;

    private final GivenOptions given;
    private final CommandCall call;

    private ConvertCommand(CommandCall call) {
        this.call = call;
        this.given = call.given();
    }

    static int run(CommandCall call) throws Exception {
        return new ConvertCommand(call).run();
    }

    private int run() throws Exception {
        Path from = Path.of(given.words().getFirst());
        Path target = Path.of(given.words().getLast());
        ConvertTarget format = ConvertTarget.of(given.text("--to"), target);
        if (format instanceof ConvertTarget.Parquet && given.has("--filter")) {
            throw new OptionException("--filter is not for Parquet: its files are asked by SQL");
        }
        ConvertOutcome outcome;
        try {
            outcome = written(from, target, format);
        } catch (MalformedInputException e) {
            throw BrokenFileException.of(List.of(from), e);
        } catch (FilterException e) {
            throw new OptionException("--filter", e);
        }
        outcome.notes().forEach(call.err()::println);
        if (!outcome.losses().isEmpty()) {
            call.err().println(format.label() + " does not hold, and so lacks:");
            outcome.losses().forEach(line -> call.err().println("  " + line));
        }
        return ExitCode.DONE;
    }

    private ConvertOutcome written(Path from, Path target, ConvertTarget format)
            throws IOException {
        if (target.toString().equals("-")) {
            if (format instanceof StreamTarget stream) {
                return recipe().convert(from, new StandardOutput(), stream.format());
            }
            throw new OptionException(format.label() + " cannot be written to standard output");
        }
        format.checkFree(from, target, given.has("--force"));
        boolean folder = format.isFolder();
        boolean replace = folder || given.has("--force"); // a folder there is empty
        return PrivateOutput.write(
                target,
                replace,
                made -> {
                    if (folder) {
                        Files.createDirectory(made);
                    }
                    return recipe().convert(from, made, format);
                });
    }

    private ConvertRecipe recipe() {
        ReportOptions options = FilterArguments.export(given);
        return new ConvertRecipe(
                SymbolArguments.places(call.given(), call::say),
                new EventChoice(options, given.has("--all")));
    }
}
