package sonde.symbol.resolve;

import java.nio.file.Path;
import java.util.Optional;
import sonde.symbol.FunctionTable;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.Detail;

/**
 * Which names are wanted, and where they are looked for.
 *
 * @param from files of programs, debug files and servers
 * @param vmlinux the image of the kernel that the user named; empty to search
 * @param aliases which of several names of one address is taken
 * @param detail what is wanted besides functions
 */
public record Naming(
        SymbolOptions from, Optional<Path> vmlinux, FunctionTable.Aliases aliases, Detail detail) {
    /** Functions, by the names that programs link to. */
    public static Naming of(SymbolOptions from, GivenPlaces given) {
        return new Naming(from, given.vmlinux(), FunctionTable.Aliases.LINKED, Detail.NONE);
    }

    /** The same with inlined calls or lines. */
    public Naming with(Detail wanted) {
        return new Naming(from, vmlinux, aliases, wanted);
    }

    /** The same with another choice among names of one address. */
    public Naming with(FunctionTable.Aliases choice) {
        return new Naming(from, vmlinux, choice, detail);
    }
}
