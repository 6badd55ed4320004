package sonde.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import sonde.symbol.files.Debuginfod;
import sonde.symbol.files.GivenPlaces;
import sonde.sys.ProcessCalls;
import sonde.tools.option.OptionException;

/** Where symbols and debug information are looked for, besides the usual places. */
final class SymbolArguments {
    /** The line of the option for servers. */
    static final String SERVERS =
            """
              --debuginfod [URL]  download debug files from this debuginfod server; without URL, and
                                  as root, from those of DEBUGINFOD_URLS
            """;

    /** Options of the commands that read programs. */
    static final String PROGRAMS =
            """

            Symbols:
              --debug-dir DIR     look for debug files in this sysroot, build tree or folder first
                                  (repeatable)
            """
                    + SERVERS;

    private static final String OLD =
            """

            Old spellings:
              --symbols = --debug-dir
            """;

    /** Options of a command that reads programs, {@code --symbols} among them. */
    static final String SYMBOLS = PROGRAMS + OLD;

    /** The same, and the kernel. */
    static final String KERNEL_SYMBOLS =
            PROGRAMS
                    + "  -k, --vmlinux FILE  read the kernel's debug information from this image\n"
                    + OLD;

    private static final String URLS = "DEBUGINFOD_URLS";

    private SymbolArguments() {}

    /** The folders of {@code --debug-dir}. */
    static List<String> folders(CommandCall call) {
        for (String folder : call.given().texts("--debug-dir")) {
            if (!Files.isDirectory(Path.of(folder))) {
                String why =
                        Files.exists(Path.of(folder)) ? "is a file: unpack it" : "is not there";
                throw new OptionException("--debug-dir takes a folder; " + folder + " " + why);
            }
        }
        return call.given().texts("--debug-dir");
    }

    /** Places for programs and the kernel. */
    static GivenPlaces places(CommandCall call) {
        Path vmlinux = call.given().path("--vmlinux");
        if (vmlinux != null && !Files.exists(vmlinux)) {
            throw new OptionException(vmlinux + ": no such file");
        }
        return new GivenPlaces(folders(call), Optional.ofNullable(vmlinux), servers(call));
    }

    /** The servers; empty when none was named, or root did not say so here. */
    static Optional<Debuginfod> servers(CommandCall call) {
        return servers(Optional.ofNullable(call.given().text("--debuginfod")), call::say);
    }

    /**
     * The servers of the environment or the one that was named.
     *
     * @param said what the option said: an address, nothing for those of the environment; empty
     *     when it was not there
     * @param progress is told of every question, one line
     */
    static Optional<Debuginfod> servers(Optional<String> said, Consumer<String> progress) {
        Map<String, String> environment = new HashMap<>(System.getenv());
        said.filter(url -> !url.isEmpty()).ifPresent(url -> environment.put(URLS, url));
        return Debuginfod.of(environment, ProcessCalls.geteuid() == 0, said.isPresent(), progress);
    }
}
