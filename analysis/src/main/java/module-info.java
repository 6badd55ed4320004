/** How events are processed: operators and the engine that runs them. */
@org.jspecify.annotations.NullMarked
module sonde.analysis {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires transitive sonde.symbol;
    requires sonde.sys;

    exports sonde.analysis;
    exports sonde.analysis.block;
    exports sonde.analysis.file;
    exports sonde.analysis.filter;
    exports sonde.analysis.outline;
    exports sonde.analysis.sched;
    exports sonde.analysis.slice;
    exports sonde.analysis.stack;
    exports sonde.analysis.syscall;
}
