package sonde.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import sonde.probe.dynamic.Subject;
import sonde.probe.dynamic.Targets;

/** Options that say what is probed; without any it is the kernel. */
final class ProbeTarget {
    @Option(
            names = {"-x", "--exec"},
            paramLabel = "FILE",
            description = "a program or library: a path, or a name found by PATH")
    private @Nullable String file;

    @Option(
            names = {"-p", "--pid"},
            paramLabel = "PID",
            description = "the program of a process, or with -x NAME a library of it")
    private @Nullable Integer pid;

    @Option(
            names = {"-k", "--vmlinux"},
            paramLabel = "FILE",
            description = "the kernel's image with debugging information")
    private @Nullable Path image;

    @Option(
            names = "--symbols",
            paramLabel = "FOLDER",
            description = "where debugging information may be, besides the usual places")
    private List<Path> symbols = List.of();

    ProbeTarget() {
        // picocli fills the fields
    }

    Subject open() throws IOException {
        return Targets.open(
                Optional.ofNullable(file),
                pid == null ? OptionalInt.empty() : OptionalInt.of(pid),
                Optional.ofNullable(image),
                symbols);
    }
}
