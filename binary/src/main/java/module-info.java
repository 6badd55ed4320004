/** Binary files and what they are packed in: ELF, DWARF, BTF, unwinding tables, archives. */
@org.jspecify.annotations.NullMarked
module sonde.binary {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires sonde.sys;
    requires aircompressor.v3;
    requires org.tukaani.xz;

    exports sonde.binary;
    exports sonde.binary.archive;
    exports sonde.binary.btf;
    exports sonde.binary.dwarf.code;
    exports sonde.binary.dwarf.location;
    exports sonde.binary.elf;
    exports sonde.binary.machine;
    exports sonde.binary.unwind;
}
