package sonde.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.format.export.ExportFormat;
import sonde.tools.convert.ConvertRecipe;

/** {@code sonde convert}. */
@Command(
        mixinStandardHelpOptions = true,
        description = "Writes a recording of any format in another one.",
        footer = {
            "",
            "Formats: perfetto, chrome, pprof, firefox, speedscope, folded, pcapng, csv, jsonl.",
            "What the format cannot hold is listed with counts on standard error.",
            "",
            "Examples:",
            "  sonde convert perf.data out.pb.gz        for pprof",
            "  sonde convert trace.dat out.pftrace      for ui.perfetto.dev",
            "  sonde convert run.jfr - --to folded      to standard output",
            "",
            "Exit status: 0 written, 4 the input is malformed."
        })
final class ConvertCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "IN", description = "a recording")
    private @Nullable Path in;

    @Parameters(index = "1", paramLabel = "OUT", description = "a new file, or - ")
    private @Nullable Path out;

    @Option(names = "--to", paramLabel = "FORMAT", description = "else by the ending of OUT")
    private @Nullable String to;

    @Option(
            names = {"-f", "--force"},
            description = "replace OUT when it exists")
    private boolean force;

    @Spec private CommandSpec spec;

    ConvertCommand() {
        // picocli fills the options
    }

    @Override
    public Integer call() throws Exception {
        Path from = Objects.requireNonNull(in);
        Path target = Objects.requireNonNull(out);
        ExportFormat format = format(target.toString());
        ConvertRecipe.Outcome outcome;
        if (target.toString().equals("-")) {
            outcome = new ConvertRecipe().convert(from, System.out, format);
        } else {
            outcome = file(from, target, format);
        }
        PrintWriter err = spec.commandLine().getErr();
        outcome.notes().forEach(err::println);
        if (!outcome.losses().isEmpty()) {
            err.println(format.label() + " does not hold, and so lacks:");
            outcome.losses().forEach(line -> err.println("  " + line));
        }
        return ExitCode.DONE;
    }

    private ConvertRecipe.Outcome file(Path from, Path target, ExportFormat format)
            throws IOException {
        if (Files.exists(target) && !force) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), target + " exists; --force replaces it");
        }
        if (Files.exists(target) && Files.isSameFile(from, target)) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), target + " is the recording itself");
        }
        Path folder = target.toAbsolutePath().getParent();
        Path made = Files.createTempFile(folder, ".sonde", ".part");
        try {
            ConvertRecipe.Outcome outcome;
            try (OutputStream stream = Files.newOutputStream(made, StandardOpenOption.WRITE)) {
                outcome = new ConvertRecipe().convert(from, stream, format);
            }
            Files.move(made, target, StandardCopyOption.REPLACE_EXISTING);
            return outcome;
        } finally {
            Files.deleteIfExists(made);
        }
    }

    private ExportFormat format(String file) {
        String wanted = to;
        Optional<ExportFormat> found =
                wanted == null ? ExportFormat.ofFile(file) : ExportFormat.named(wanted);
        return found.orElseThrow(() ->
                new CommandLine.ParameterException(
                        spec.commandLine(),
                        (wanted == null
                                        ? "the ending of " + file + " names no format"
                                        : "no format is called " + wanted)
                                + "; --to takes "
                                + Arrays.stream(ExportFormat.values())
                                        .map(ExportFormat::label)
                                        .collect(Collectors.joining(", "))));
    }
}
