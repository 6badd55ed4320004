package sonde.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;
import sonde.symbol.files.GivenPlaces;

/** Where symbols and debug information are looked for, those of the kernel too. */
final class KernelSymbolArguments {
    @Spec(Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Mixin private SymbolArguments symbols = new SymbolArguments();

    @Option(
            names = {"-k", "--vmlinux"},
            paramLabel = "FILE",
            description = "the kernel's image with debugging information")
    private @Nullable Path vmlinux;

    KernelSymbolArguments() {
        // picocli fills the fields
    }

    GivenPlaces given() {
        if (spec != null && vmlinux != null && !Files.exists(vmlinux)) {
            throw new ParameterException(spec.commandLine(), vmlinux + ": no such file");
        }
        return new GivenPlaces(symbols.folders(), Optional.ofNullable(vmlinux), symbols.servers());
    }
}
