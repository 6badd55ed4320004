package sonde.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import sonde.event.result.Listing;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.SourceOptions;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;
import sonde.tools.symbolize.FrameText.FrameOptions;
import sonde.tools.symbolize.KernelAddresses;
import sonde.tools.symbolize.SourceTree;
import sonde.tools.symbolize.SymbolizeRecipe;

/** {@code sonde symbolize}. */
final class SymbolizeCommand {
    static final String MODEL =
            """
            sonde symbolize [OPTIONS] [ADDRESS...]
            sonde symbolize --annotate [OPTIONS] <LOG

            Show which function, file and line addresses of a program come from.

            Arguments:
              [ADDRESS...]    hexadecimal, FUNCTION, FUNCTION+OFFSET or FUNCTION+OFFSET/SIZE;
                              without any, addresses are read from standard input

            Options:
              -e, --exe FILE  program, library, kernel or module. The default is a.out, or the
                              running kernel if there is no a.out or all addresses are kernel
                              addresses; with --annotate, the files that the text names
              -a, --addresses
                              also show the address
              -f, --functions
                              also show the function
              -i, --inlines   also show the callers of inlined functions
              -p, --pretty-print
                              print one line per address
              -s, --basenames
                              print file names without folders
              -C, --demangle  demangle names
              -j, --section NAME
                              addresses count from the start of this section
              --columns       also print columns: file:line:column
              --list          also print the source lines around each place
              --source DIR    with --list: read source files below this folder
              --json          print a JSON object per address
              --addresses-from FILE
                              read addresses from a file, - is standard input
              --annotate      copy standard input and add the source position after
                              func+0x1f/0x40, [<address>], FILE(+0x1139) and the like
              --modules DIR   look for kernel modules below this folder, for lines with [module]
              --no-cache      neither read nor write tables of other runs
            """
                    + SymbolArguments.SYMBOLS
                    + """
                      --filter = --annotate

                    Examples:
                      sonde symbolize -e ./server -fi 0x4011d6
                      sonde symbolize -e vmlinux -fip --list tcp_sendmsg+0x2b/0x60
                      sonde symbolize 0xffffffff810d47be   in the running kernel
                      ./server 2>&1 | sonde symbolize --annotate
                      dmesg | sonde symbolize --annotate -e vmlinux --modules build/
                    """;

    private SymbolizeCommand() {}

    static int run(CommandCall call) throws Exception {
        GivenOptions given = call.given();
        SourceOptions usual =
                given.has("--no-cache") ? SourceOptions.USUAL.uncached() : SourceOptions.USUAL;
        SourceOptions options =
                usual.with(
                        SymbolArguments.folders(call.given()),
                        SymbolArguments.servers(call.given(), call::say));
        Path modules = given.path("--modules");
        boolean annotates = given.has("--annotate");
        if (annotates && !given.has("--exe")) {
            copy(SymbolizeRecipe.logAlone(modules, options), call);
            return ExitCode.DONE;
        }
        Path file = Path.of(given.text("--exe", "a.out"));
        List<String> words = given.words();
        boolean isKernel = !words.isEmpty() && words.stream().allMatch(KernelAddresses::isKernel);
        if (!annotates && !given.has("--exe") && (isKernel || !Files.exists(file))) {
            kernel(call);
            return ExitCode.DONE;
        }
        if (!Files.exists(file)) {
            throw new OptionException(file + ": no such file");
        }
        try (SymbolizeRecipe recipe = SymbolizeRecipe.open(file, options)) {
            call.say(recipe.notes());
            if (annotates) {
                copy(recipe.log(modules, options), call);
            } else {
                answer(recipe, call);
            }
        }
        return ExitCode.DONE;
    }

    private static void kernel(CommandCall call) throws IOException {
        GivenOptions given = call.given();
        List<String> words = given.words();
        if (words.isEmpty()) {
            String from = given.text("--addresses-from", "-");
            byte[] text =
                    from.equals("-") ? System.in.readAllBytes() : Files.readAllBytes(Path.of(from));
            words = new String(text, StandardCharsets.UTF_8).lines().toList();
        }
        KernelAddresses kernel =
                new KernelAddresses(
                        new GivenPlaces(
                                SymbolArguments.folders(given),
                                Optional.empty(),
                                SymbolArguments.servers(given, call::say)));
        ResultPrinter.onOut(kernel.of(words, given.has("--addresses")), call.json());
        call.say(kernel.notes());
    }

    private static void copy(SymbolizeRecipe.LogCopy log, CommandCall call) throws IOException {
        try (log) {
            ResultPrinter.onOut(log.lines(System.in), call.json());
            call.say(log.notes());
        }
    }

    private static void answer(SymbolizeRecipe recipe, CommandCall call) throws IOException {
        GivenOptions given = call.given();
        FrameOptions look =
                new FrameOptions(
                        given.has("--addresses"),
                        given.has("--functions"),
                        given.has("--inlines"),
                        given.has("--pretty-print"),
                        given.has("--basenames"),
                        given.has("--demangle"),
                        given.has("--columns"),
                        given.has("--list") ? new SourceTree(given.path("--source")) : null);
        String section = given.text("--section");
        if (!given.words().isEmpty()) {
            Listing listing = recipe.of(given.words(), section, look, call::say);
            ResultPrinter.onOut(listing, call.json());
            return;
        }
        String from = given.text("--addresses-from", "-");
        try (InputStream in = from.equals("-") ? System.in : Files.newInputStream(Path.of(from))) {
            ResultPrinter.onOut(recipe.of(in, section, look), call.json());
        }
    }
}
