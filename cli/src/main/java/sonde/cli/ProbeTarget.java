package sonde.cli;

import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import sonde.probe.dynamic.ProbeException;
import sonde.probe.dynamic.ProbedObject;
import sonde.probe.dynamic.ProbedObjects;
import sonde.tools.option.SymbolArguments;

/** Options that say what is probed; without any it is the kernel. */
final class ProbeTarget {
    static final String MODEL =
            """

            Target (the kernel, unless one of these is given):
              -x, --exec FILE
                              a program or library: a path, a name found by PATH, or libc
              -p, --pid PID   the program of a process, or with -x NAME a library of it
              -m, --module MODULE
                              a module of the kernel: its name, or the path of its .ko
            """
                    + SymbolArguments.KERNEL_SYMBOLS;

    private ProbeTarget() {}

    static ProbedObject open(CommandCall call) throws IOException {
        return open(call, "", "");
    }

    static ProbedObject open(CommandCall call, String named) throws IOException {
        return open(call, named, "");
    }

    /**
     * Opens.
     *
     * @param named the module that a place names; empty for none
     * @param path the file that a place names; empty for none
     * @throws ProbeException when it is another one than the option's
     */
    static ProbedObject open(CommandCall call, String named, String path) throws IOException {
        String module = call.given().text("--module");
        OptionalLong pid = call.given().number("--pid");
        if (module != null && !named.isEmpty() && !isSame(module, named)) {
            throw new ProbeException("-m " + module + " and " + named + " are different modules");
        }
        return ProbedObjects.open(
                Optional.ofNullable(call.given().text("--exec"))
                        .or(() -> path.isEmpty() ? Optional.empty() : Optional.of(path)),
                pid.isEmpty() ? OptionalInt.empty() : OptionalInt.of((int) pid.getAsLong()),
                Optional.ofNullable(module)
                        .or(() -> named.isEmpty() ? Optional.empty() : Optional.of(named)),
                SymbolArguments.places(call.given(), call::say));
    }

    private static boolean isSame(String option, String named) {
        String file = option.substring(option.lastIndexOf('/') + 1).replaceFirst("\\.ko.*", "");
        return file.replace('-', '_').equals(named.replace('-', '_')) || option.equals(named);
    }
}
