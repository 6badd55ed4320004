package sonde.symbol.resolve;

import java.nio.file.Path;
import java.util.Optional;
import sonde.symbol.FunctionTable;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.CodeDetail;

/**
 * Which names are wanted, and where they are looked for.
 *
 * @param from files of programs, debug files and servers
 * @param vmlinux the image of the kernel that the user named; empty to search
 * @param aliases which of several names of one address is taken
 * @param detail what is wanted besides functions
 */
public record NameDetail(
        SymbolOptions from,
        Optional<Path> vmlinux,
        FunctionTable.Aliases aliases,
        CodeDetail detail) {
    /** Functions, by the names that programs link to. */
    public static NameDetail of(SymbolOptions from, GivenPlaces given) {
        return new NameDetail(from, given.vmlinux(), FunctionTable.Aliases.LINKED, CodeDetail.NONE);
    }

    /** The same with inlined calls or lines. */
    public NameDetail with(CodeDetail wanted) {
        return new NameDetail(from, vmlinux, aliases, wanted);
    }

    /** The same with another choice among names of one address. */
    public NameDetail with(FunctionTable.Aliases choice) {
        return new NameDetail(from, vmlinux, choice, detail);
    }
}
