package sonde.tools.option;

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

/** Where symbols and debug information are looked for, besides the usual places. */
public final class SymbolArguments {
    /** The line of the option for servers. */
    public static final String SERVERS =
            """
              --debuginfod [URL]  download debug files from this debuginfod server; without URL, and
                                  as root, from those of DEBUGINFOD_URLS
            """;

    /** Options of the commands that read programs. */
    public static final String PROGRAMS =
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
    public static final String SYMBOLS = PROGRAMS + OLD;

    /** The same, and the kernel. */
    public static final String KERNEL_SYMBOLS =
            PROGRAMS
                    + "  -k, --vmlinux FILE  read the kernel's debug information from this image\n"
                    + OLD;

    private static final String URLS = "DEBUGINFOD_URLS";

    private SymbolArguments() {}

    /** The folders of {@code --debug-dir}. */
    public static List<String> folders(GivenOptions given) {
        for (String folder : given.texts("--debug-dir")) {
            if (!Files.isDirectory(Path.of(folder))) {
                String why =
                        Files.exists(Path.of(folder)) ? "is a file: unpack it" : "is not there";
                throw new OptionException("--debug-dir takes a folder; " + folder + " " + why);
            }
        }
        return given.texts("--debug-dir");
    }

    /** Places for programs and the kernel. */
    public static GivenPlaces places(GivenOptions given, Consumer<String> progress) {
        Path vmlinux = given.path("--vmlinux");
        if (vmlinux != null && !Files.exists(vmlinux)) {
            throw new OptionException(vmlinux + ": no such file");
        }
        return new GivenPlaces(
                folders(given), Optional.ofNullable(vmlinux), servers(given, progress));
    }

    /** The servers; empty when none was named, or root did not say so here. */
    public static Optional<Debuginfod> servers(GivenOptions given, Consumer<String> progress) {
        return servers(Optional.ofNullable(given.text("--debuginfod")), progress);
    }

    /**
     * The servers of the environment or the one that was named.
     *
     * @param said what the option said: an address, nothing for those of the environment; empty
     *     when it was not there
     * @param progress is told of every question, one line
     */
    public static Optional<Debuginfod> servers(Optional<String> said, Consumer<String> progress) {
        Map<String, String> environment = new HashMap<>(System.getenv());
        said.filter(url -> !url.isEmpty()).ifPresent(url -> environment.put(URLS, url));
        // Who asks is only asked where there are servers: the first call into the kernel is slow.
        return environment.getOrDefault(URLS, "").isBlank()
                ? Optional.empty()
                : Debuginfod.of(
                        environment, ProcessCalls.geteuid() == 0, said.isPresent(), progress);
    }
}
