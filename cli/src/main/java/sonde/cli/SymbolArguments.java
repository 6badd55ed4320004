package sonde.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;
import sonde.symbol.files.Debuginfod;
import sonde.symbol.files.GivenPlaces;

/** Where symbols and debug information are looked for, besides the usual places. */
final class SymbolArguments {
    @Spec(Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = "--symbols",
            paramLabel = "DIR",
            description =
                    "look for debug files in this sysroot, build tree or folder first; repeatable")
    private List<String> folders = new ArrayList<>();

    @Mixin private ServerArguments servers = new ServerArguments();

    SymbolArguments() {
        // picocli fills the fields
    }

    /**
     * Those given.
     *
     * @throws ParameterException when one is none
     */
    List<String> folders() {
        for (String folder : folders) {
            if (spec != null && !Files.isDirectory(Path.of(folder))) {
                String why =
                        Files.exists(Path.of(folder)) ? "is a file: unpack it" : "is not there";
                throw new ParameterException(
                        spec.commandLine(), "--symbols takes a folder; " + folder + " " + why);
            }
        }
        return folders;
    }

    /** The same as places. */
    GivenPlaces given() {
        return new GivenPlaces(folders(), Optional.empty(), servers());
    }

    Optional<Debuginfod> servers() {
        return servers.servers();
    }
}
