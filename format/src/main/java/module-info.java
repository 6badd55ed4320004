/** Readers and writers of files, one package each; they take bytes, never a path. */
@org.jspecify.annotations.NullMarked
module sonde.format {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires sonde.sys;
    requires com.fasterxml.jackson.core;
    requires aircompressor.v3;
    requires org.tukaani.xz;

    exports sonde.format.btf;
    exports sonde.format.bundle;
    exports sonde.format.ctf;
    exports sonde.format.elf;
    exports sonde.format.ftrace;
    exports sonde.format.names;
    exports sonde.format.perfdata;
    exports sonde.format.text;
    exports sonde.format.tracedat;
    exports sonde.format.wrapper;
    exports sonde.format;
}
