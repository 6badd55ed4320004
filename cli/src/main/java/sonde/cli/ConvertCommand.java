package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.analysis.filter.FilterException;
import sonde.format.MalformedInputException;
import sonde.tools.convert.ConvertRecipe;
import sonde.tools.convert.ConvertTarget;
import sonde.tools.report.ListingOptions;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.StackOptions;

/** {@code sonde convert}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        description = {
            "Writes a recording of any format in another one: of a bundle the events of the"
                    + " recorded processes, as in reports."
        },
        footer = {
            "",
            "Formats, by the ending of OUT or by --to:",
            "  tracedat (.dat)      trace.dat v7 for trace-cmd and KernelShark",
            "  perfdata (.data)     perf.data for perf and hotspot",
            "  ctf (.ctf, a folder) CTF 2; ctf1 is CTF 1.8 for babeltrace2 before 2.1",
            "  parquet (.parquet)   all events in a file",
            "  parquet-folder       a file for each event type, with typed columns",
            "  perfetto, chrome, pprof, firefox, speedscope, folded, pcapng, csv, jsonl",
            "What the format cannot hold is listed with counts on standard error.",
            "",
            "Examples:",
            "  sonde convert perf.data out.pb.gz        for pprof",
            "  sonde convert trace.dat out.pftrace      for ui.perfetto.dev",
            "  sonde convert run.jfr - --to folded      to standard output",
            "  sonde convert perf.data trace.dat        then trace-cmd report trace.dat",
            "  sonde convert lttng/ perf.data           then perf script -i perf.data",
            "  sonde convert trace.dat made --to ctf1   then babeltrace2 made",
            "  sonde convert make.sonde cc1.pb.gz --comm 'cc1*' --time 1.5,2.0",
            "",
            "Exit status: 0 written, 1 nothing in it fits the filters, 4 the input is malformed."
        })
final class ConvertCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "IN", description = "a recording")
    private @Nullable Path in;

    @Parameters(index = "1", paramLabel = "OUT", description = "a new file or folder, or -")
    private @Nullable Path out;

    @Option(names = "--to", paramLabel = "FORMAT", description = "else by the ending of OUT")
    private @Nullable String to;

    @Option(
            names = {"-f", "--force"},
            description = "replace OUT when it exists")
    private boolean force;

    @Option(
            names = {"-a", "--all"},
            description = "also what is not of the recorded processes, and the recorder's own")
    private boolean all;

    @Mixin private FilterArguments filters = new FilterArguments();

    @Mixin private KernelSymbolArguments symbols = new KernelSymbolArguments();

    @Spec private CommandSpec spec;

    ConvertCommand() {
        // picocli fills the options
    }

    @Override
    public Integer call() throws Exception {
        Path from = Objects.requireNonNull(in);
        Path target = Objects.requireNonNull(out);
        ConvertTarget format = inFolder(format(target), target);
        if (format instanceof ConvertTarget.Parquet && !filters.filters(spec).isEmpty()) {
            throw refused("--filter is not for Parquet: its files are asked by SQL");
        }
        ConvertRecipe.Outcome outcome;
        try {
            outcome = written(from, target, format);
        } catch (MalformedInputException e) {
            throw BrokenFileException.of(List.of(from), e);
        } catch (FilterException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--filter", e);
        }
        PrintWriter err = spec.commandLine().getErr();
        outcome.notes().forEach(err::println);
        if (!outcome.losses().isEmpty()) {
            err.println(format.label() + " does not hold, and so lacks:");
            outcome.losses().forEach(line -> err.println("  " + line));
        }
        return ExitCode.DONE;
    }

    /** Into a folder that is there go a file per event type, and formats of several files. */
    private static ConvertTarget inFolder(ConvertTarget format, Path target) {
        boolean one = format instanceof ConvertTarget.Parquet && Files.isDirectory(target);
        return one ? new ConvertTarget.Parquet(true) : format;
    }

    private ConvertRecipe.Outcome written(Path from, Path target, ConvertTarget format)
            throws IOException {
        if (target.toString().equals("-")) {
            if (format instanceof ConvertTarget.Stream stream) {
                return recipe().convert(from, System.out, stream.format());
            }
            throw refused(format.label() + " cannot be written to standard output");
        }
        boolean folder = format.isFolder();
        if (Files.exists(target) && Files.exists(from) && Files.isSameFile(from, target)) {
            throw refused(target + " is the recording itself");
        }
        if (folder ? isFilled(target) : Files.exists(target) && !force) {
            throw refused(
                    folder
                            ? target + " exists; " + format.label() + " wants a new or empty folder"
                            : target + " exists; --force replaces it");
        }
        if (!folder && Files.isDirectory(target)) {
            throw refused(target + " is a folder");
        }
        return folder ? folder(from, target, format) : file(from, target, format);
    }

    private ConvertRecipe recipe() {
        ListingOptions listing = ListingOptions.of(filters.cpus(), filters.filters(spec));
        ReportOptions options =
                new ReportOptions(
                        List.of(),
                        filters.from(spec),
                        filters.to(spec),
                        filters.tids(),
                        filters.comms(),
                        filters.types(),
                        1,
                        listing,
                        StackOptions.DEFAULT);
        return new ConvertRecipe(symbols.given(), new ConvertRecipe.Choice(options, all));
    }

    private CommandLine.ParameterException refused(String why) {
        return new CommandLine.ParameterException(spec.commandLine(), why);
    }

    private static boolean isFilled(Path target) throws IOException {
        if (!Files.isDirectory(target)) {
            return Files.exists(target);
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(target)) {
            return entries.iterator().hasNext();
        }
    }

    private ConvertRecipe.Outcome file(Path from, Path target, ConvertTarget format)
            throws IOException {
        Path folder = target.toAbsolutePath().getParent();
        Path made = Files.createTempFile(folder, ".sonde", ".part");
        try {
            ConvertRecipe.Outcome outcome = recipe().convert(from, made, format);
            Files.move(made, target, StandardCopyOption.REPLACE_EXISTING);
            return outcome;
        } finally {
            Files.deleteIfExists(made);
        }
    }

    private ConvertRecipe.Outcome folder(Path from, Path target, ConvertTarget format)
            throws IOException {
        Path made = Files.createTempDirectory(target.toAbsolutePath().getParent(), ".sonde");
        try {
            ConvertRecipe.Outcome outcome = recipe().convert(from, made, format);
            Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.move(made, target, StandardCopyOption.REPLACE_EXISTING);
            return outcome;
        } finally {
            if (Files.exists(made)) {
                try (Stream<Path> left = Files.list(made)) {
                    for (Path one : left.toList()) {
                        Files.delete(one);
                    }
                }
                Files.delete(made);
            }
        }
    }

    private ConvertTarget format(Path target) {
        String wanted = to;
        String file = target.toString();
        boolean folder = Files.isDirectory(target);
        Optional<ConvertTarget> found =
                wanted == null
                        ? ConvertTarget.ofFile(folder ? "folder.ctf" : file)
                        : ConvertTarget.named(wanted);
        return found.orElseThrow(() ->
                refused(
                        (wanted == null
                                        ? "the ending of " + file + " names no format"
                                        : "no format is called " + wanted)
                                + "; --to takes "
                                + ConvertTarget.all().stream()
                                        .map(ConvertTarget::label)
                                        .collect(Collectors.joining(", "))));
    }
}
