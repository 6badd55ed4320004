package sonde.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import sonde.symbol.files.Debuginfod;
import sonde.symbol.files.GivenPlaces;

/** Where symbols and debug information are looked for, besides the usual places. */
final class SymbolArguments {
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

    List<String> folders() {
        return folders;
    }

    /** The same as places. */
    GivenPlaces given() {
        return new GivenPlaces(folders, Optional.empty(), servers());
    }

    Optional<Debuginfod> servers() {
        return servers.servers();
    }
}
