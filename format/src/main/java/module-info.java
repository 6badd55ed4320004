/** Readers and writers of files, one package each; they take bytes, never a path. */
@org.jspecify.annotations.NullMarked
module sonde.format {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires sonde.sys;
    requires com.fasterxml.jackson.core;
    requires aircompressor.v3;
    requires org.tukaani.xz;

    exports sonde.format;
    exports sonde.format.btf;
    exports sonde.format.bundle;
    exports sonde.format.dwarf.code;
    exports sonde.format.dwarf.location;
    exports sonde.format.elf;
    exports sonde.format.export;
    exports sonde.format.ftrace;
    exports sonde.format.names;
    exports sonde.format.perfdata;
    exports sonde.format.trace;
    exports sonde.format.tracedat;
    exports sonde.format.unwind;
    exports sonde.format.wrapper;
}
