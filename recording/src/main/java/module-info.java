/** Recordings of kernels and the texts made of them: readers and writers, one package each. */
@org.jspecify.annotations.NullMarked
module sonde.recording {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires transitive sonde.binary;
    requires sonde.sys;
    requires com.fasterxml.jackson.core;

    exports sonde.recording;
    exports sonde.recording.bundle;
    exports sonde.recording.ftrace;
    exports sonde.recording.json;
    exports sonde.recording.library;
    exports sonde.recording.names;
    exports sonde.recording.perfdata;
    exports sonde.recording.syscall;
    exports sonde.recording.tracedat;
    exports sonde.recording.ctf to
            sonde.open;
    exports sonde.recording.pcap to
            sonde.open;
    exports sonde.recording.text to
            sonde.open;
}
