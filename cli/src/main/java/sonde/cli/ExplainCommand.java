package sonde.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import sonde.symbol.line.SourceOptions;
import sonde.tools.explain.ExplainArguments;
import sonde.tools.explain.ExplainRecipe;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;
import sonde.tools.explain.IncidentPage;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;
import sonde.tools.report.PageFile;
import sonde.tools.symbolize.SymbolizeRecipe;
import sonde.view.TextEscape;

/** {@code sonde explain}. */
final class ExplainCommand {
    static final String MODEL =
            """
            sonde explain [OPTIONS] [LOG...]

            Find the incidents of kernel logs, and explain each of them: crashes, warnings, reports
            of KASAN, lockdep and other checkers, stalls, hung tasks, leaks, and programs that the
            kernel ended.

            Arguments:
              [LOG...]        kernel log, serial capture, output of dmesg or journalctl, also
                              compressed; a folder of such files, as /sys/fs/pstore; - is standard
                              input; without LOG: standard input, or /dev/kmsg if that is a terminal

            Options:
              -k, --vmlinux FILE
                              decode addresses with this kernel image
              -r, --release RELEASE
                              decode addresses with the image of this release, as uname -r prints it
              --modules DIR   look for kernel modules below this folder
              --force         decode addresses even if the image is of another release than the log
              --source DIR    show the lines of this source tree around the function to blame
              --decode-only   copy the logs and add the source position behind each address
              --why           show which frames were passed over to find the one to blame
              --all           show all frames of all stacks
              --identities    print a line per identity with the number of its incidents
              --identity sonde|syzkaller
                              name incidents in these words; they differ for damaged reports
                              (default sonde)
              -w, --follow    wait for further lines at the end of the log, until Ctrl-C
              -W, --follow-new
                              wait for new messages of the running kernel, and leave out older ones
              -l, --level LEVEL,...
                              show incidents of these severities (security, fatal, error, warning,
                              notice, or dmesg's names; err+ is err and more severe, +err err and
                              less)
              -f, --facility NAME,...
                              leave out lines of other facilities, where the log names them: kern
                              for the kernel, user for what programs wrote to /dev/kmsg
              --since WHEN    leave out incidents before this time: a date and time, 10:00, -2h,
                              yesterday, or seconds since the boot as the log has them (12.5s)
              --until WHEN    leave out incidents after this time
              -T, --ctime     show dates in place of seconds since the boot
              --html FILE     write a self-contained page with a timeline, and a card for each
                              incident; - is standard output
              --overwrite     with --html: overwrite FILE if it exists
              --json          print a JSON object per incident
            """
                    + SymbolArguments.SYMBOLS
                    + """

                    Examples:
                      dmesg | sonde explain
                      sonde explain /var/log/kern.log.1.gz
                      sonde explain -T -w /dev/kmsg
                      sonde explain -l err+ --since yesterday /var/log/kern.log
                      sonde explain console.txt -k vmlinux --modules build/
                      sonde explain --identities logs/ which fault is most frequent
                      journalctl -k -b -1 | sonde explain --json
                      sonde explain console.txt --source ~/linux --html crash.html

                    Exit status:
                      0 no fault of the kernel, 1 there is one, 4 a log cannot be unpacked
                    """;

    private ExplainCommand() {}

    static int run(CommandCall call) throws Exception {
        GivenOptions given = call.given();
        List<LogSource> logs = ExplainArguments.sources(given, TerminalKind.width(0) > 0);
        ExplainOptions options = ExplainArguments.options(given);
        SourceOptions places =
                SourceOptions.USUAL.with(
                        SymbolArguments.folders(given), SymbolArguments.servers(given, call::say));
        String release = given.text("--release", "");
        Path kernel =
                release.isEmpty()
                        ? given.path("--vmlinux")
                        : SymbolizeRecipe.kernelImage(release, places);
        Path modules = given.path("--modules");
        Path installed = Path.of("/usr/lib/debug/lib/modules", release);
        if (modules == null && !release.isEmpty() && Files.isDirectory(installed)) {
            modules = installed;
        }
        boolean copies = given.has("--decode-only");
        if (kernel == null) {
            if (modules == null && copies) {
                throw new OptionException("--decode-only needs -k VMLINUX, --release or --modules");
            }
            if (modules == null) {
                return show(new ExplainRecipe(options, null), logs, call);
            }
            try (SymbolizeRecipe.LogCopy symbols = SymbolizeRecipe.logAlone(modules, places)) {
                return copies
                        ? copy(symbols, logs, call)
                        : show(new ExplainRecipe(options, symbols), logs, call);
            }
        }
        if (!Files.exists(kernel)) {
            throw new OptionException(kernel + ": no such file");
        }
        try (SymbolizeRecipe image = SymbolizeRecipe.open(kernel, places);
                SymbolizeRecipe.LogCopy symbols = image.log(modules, places)) {
            call.say(image.notes());
            int code =
                    copies
                            ? copy(symbols, logs, call)
                            : show(new ExplainRecipe(options, symbols), logs, call);
            call.say(symbols.notes());
            return code;
        }
    }

    private static int copy(SymbolizeRecipe.LogCopy symbols, List<LogSource> logs, CommandCall call)
            throws IOException {
        for (LogSource log : logs) {
            Path file = log.file();
            InputStream in = file == null ? System.in : Files.newInputStream(file);
            try (in) {
                ResultPrinter.onOut(symbols.lines(in), false);
            }
        }
        call.say(symbols.notes());
        return ExitCode.DONE;
    }

    private static int show(ExplainRecipe recipe, List<LogSource> logs, CommandCall call)
            throws IOException {
        Path html = call.given().path("--html");
        if (html == null) {
            ResultPrinter.onOut(recipe.of(logs), call.json());
        } else {
            for (String other : List.of("--json", "--identities", "--follow", "--decode-only")) {
                if (call.given().has(other)) {
                    throw new OptionException("--html and " + other + " exclude each other");
                }
            }
            PageFile file = PageFile.of(html, call.given().has("--overwrite"));
            IncidentPage page = recipe.page(logs);
            ResultPrinter.page(file, page.report(), page.timeline(), call);
        }
        if (!recipe.otherRelease().isEmpty()) {
            call.say(
                    (call.given().has("--force")
                                    ? "addresses may be wrong"
                                    : "addresses were not decoded")
                            + ": the log is of kernel "
                            + TextEscape.line(recipe.otherRelease())
                            + ", the image given with --vmlinux of another; name the image that"
                            + " was running"
                            + (call.given().has("--force") ? "" : ", or add --force"));
        }
        recipe.notes().forEach(call::say);
        return recipe.faults() > 0 ? ExitCode.NEGATIVE : ExitCode.DONE;
    }
}
