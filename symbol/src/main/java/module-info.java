/** From an address to a function: ELF symbols, kallsyms, maps of processes, demangling. */
@org.jspecify.annotations.NullMarked
module sonde.symbol {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires sonde.sys;
    requires transitive sonde.binary;
    requires transitive sonde.recording;

    exports sonde.symbol;
    exports sonde.symbol.ctype;
    exports sonde.symbol.demangle;
    exports sonde.symbol.files;
    exports sonde.symbol.line;
    exports sonde.symbol.resolve;
    exports sonde.symbol.unwind;
}
