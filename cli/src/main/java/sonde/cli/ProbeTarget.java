package sonde.cli;

import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import sonde.probe.dynamic.ProbeException;
import sonde.probe.dynamic.Subject;
import sonde.probe.dynamic.Targets;

/** Options that say what is probed; without any it is the kernel. */
final class ProbeTarget {
    @Option(
            names = {"-x", "--exec"},
            paramLabel = "FILE",
            description = "a program or library: a path, a name found by PATH, or libc")
    private @Nullable String file;

    @Option(
            names = {"-p", "--pid"},
            paramLabel = "PID",
            description = "the program of a process, or with -x NAME a library of it")
    private @Nullable Integer pid;

    @Option(
            names = {"-m", "--module"},
            paramLabel = "MODULE",
            description = "a module of the kernel: its name, or the path of its .ko")
    private @Nullable String module;

    @Mixin private KernelSymbolArguments symbols = new KernelSymbolArguments();

    ProbeTarget() {
        // picocli fills the fields
    }

    Subject open() throws IOException {
        return open("");
    }

    /**
     * Opens.
     *
     * @param named the module that a place names; empty for none
     * @throws ProbeException when it is another one than the option's
     */
    Subject open(String named) throws IOException {
        if (module != null && !named.isEmpty() && !isSame(module, named)) {
            throw new ProbeException("-m " + module + " and " + named + " are different modules");
        }
        return Targets.open(
                Optional.ofNullable(file),
                pid == null ? OptionalInt.empty() : OptionalInt.of(pid),
                Optional.ofNullable(module)
                        .or(() -> named.isEmpty() ? Optional.empty() : Optional.of(named)),
                symbols.given());
    }

    private static boolean isSame(String option, String named) {
        String file = option.substring(option.lastIndexOf('/') + 1).replaceFirst("\\.ko.*", "");
        return file.replace('-', '_').equals(named.replace('-', '_')) || option.equals(named);
    }
}
