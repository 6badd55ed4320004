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
