package sonde.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.event.result.Listing;
import sonde.symbol.line.SourceOptions;
import sonde.tools.symbolize.FrameText;
import sonde.tools.symbolize.SymbolizeRecipe;

/** {@code sonde symbolize}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        description = "Says which function, file and line addresses of a program come from.",
        footer = {
            "",
            "Examples: sonde symbolize -e ./server -fi 0x4011d6",
            "          sonde symbolize -e vmlinux -fip tcp_sendmsg+0x2b",
            "          ./server 2>&1 | sonde symbolize --filter",
            "          dmesg | sonde symbolize --filter -e vmlinux --modules build/"
        })
final class SymbolizeCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Option(
            names = {"-e", "--exe"},
            paramLabel = "FILE",
            description =
                    "program, library, kernel or module; when not given a.out, with --filter what"
                            + " the text names")
    private @Nullable Path exe;

    @Option(
            names = {"-a", "--addresses"},
            description = "show the address too")
    private boolean addresses;

    @Option(
            names = {"-f", "--functions"},
            description = "show the function too")
    private boolean functions;

    @Option(
            names = {"-i", "--inlines"},
            description = "show also the functions that the inlined one stands in")
    private boolean inlines;

    @Option(
            names = {"-p", "--pretty-print"},
            description = "a line for each")
    private boolean pretty;

    @Option(
            names = {"-s", "--basenames"},
            description = "names of files without their folders")
    private boolean basenames;

    @Option(
            names = {"-C", "--demangle"},
            description = "names as they are written in the source")
    private boolean demangle;

    @Option(
            names = {"-j", "--section"},
            paramLabel = "NAME",
            description = "addresses count from the start of this section")
    private @Nullable String section;

    @Option(names = "--columns", description = "show columns too: file:line:column")
    private boolean columns;

    @Option(names = "--json", description = "a JSON object for each address")
    private boolean json;

    @Option(
            names = "--addresses-from",
            paramLabel = "FILE",
            description = "read addresses from a file, '-' for standard input")
    private @Nullable String from;

    @Option(
            names = "--filter",
            description =
                    "copy standard input, with places behind func+0x1f/0x40, [<address>],"
                            + " FILE(+0x1139) and the like")
    private boolean filter;

    @Option(
            names = "--modules",
            paramLabel = "FOLDER",
            description = "kernel modules lie below, for lines with [module]")
    private @Nullable Path modules;

    @Option(names = "--no-cache", description = "neither use nor keep tables of other runs")
    private boolean uncached;

    @Mixin private SymbolArguments places = new SymbolArguments();

    @Parameters(
            paramLabel = "ADDRESS",
            description = "hexadecimal, or FUNCTION, FUNCTION+OFFSET; else standard input")
    private List<String> words = List.of();

    @Override
    public Integer call() throws IOException {
        if (spec == null) {
            return ExitCode.FAULT;
        }
        SourceOptions usual = uncached ? SourceOptions.USUAL.uncached() : SourceOptions.USUAL;
        SourceOptions options = usual.with(places.folders(), places.servers());
        if (filter && exe == null) {
            copy(SymbolizeRecipe.logAlone(modules, options));
            return ExitCode.DONE;
        }
        Path file = exe == null ? Path.of("a.out") : exe;
        if (!Files.exists(file)) {
            throw new ParameterException(spec.commandLine(), file + ": no such file");
        }
        try (SymbolizeRecipe recipe = SymbolizeRecipe.open(file, options)) {
            say(recipe.notes());
            if (filter) {
                copy(recipe.log(modules, options));
            } else {
                answer(recipe);
            }
        }
        return ExitCode.DONE;
    }

    private void say(List<String> notes) {
        if (spec != null) {
            PrintWriter err = spec.commandLine().getErr();
            notes.forEach(note -> Failures.say(err, note));
        }
    }

    private void copy(SymbolizeRecipe.LogCopy log) throws IOException {
        try (log) {
            Shown.onOut(log.lines(System.in), json);
            say(log.notes());
        }
    }

    private void answer(SymbolizeRecipe recipe) throws IOException {
        FrameText.Look look =
                new FrameText.Look(
                        addresses, functions, inlines, pretty, basenames, demangle, columns);
        if (!words.isEmpty()) {
            Listing listing = recipe.of(words, section, look, said -> say(List.of(said)));
            Shown.onOut(listing, json);
            return;
        }
        boolean standard = from == null || from.equals("-");
        try (InputStream in =
                standard ? System.in : Files.newInputStream(Path.of(String.valueOf(from)))) {
            Shown.onOut(recipe.of(in, section, look), json);
        }
    }
}
