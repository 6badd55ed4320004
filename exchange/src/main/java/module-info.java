/** Formats in which other programs exchange traces and profiles: their readers, and all exports. */
@org.jspecify.annotations.NullMarked
module sonde.exchange {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires transitive sonde.recording;
    requires sonde.sys;
    requires com.fasterxml.jackson.core;
    requires aircompressor.v3;

    exports sonde.exchange.export;
    exports sonde.exchange.heap;
    exports sonde.exchange.chrome to
            sonde.open;
    exports sonde.exchange.firefox to
            sonde.open;
    exports sonde.exchange.heaptrack to
            sonde.open;
    exports sonde.exchange.jfr to
            sonde.open;
    exports sonde.exchange.perfetto to
            sonde.open;
    exports sonde.exchange.pprof to
            sonde.open;
    exports sonde.exchange.speedscope to
            sonde.open;
    exports sonde.exchange.valgrind to
            sonde.open;
}
