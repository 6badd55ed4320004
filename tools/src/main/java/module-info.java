/** Recipes: record, report, query, list, doctor. */
@org.jspecify.annotations.NullMarked
module sonde.tools {
    requires static org.jspecify;
    requires transitive sonde.probe;
    requires transitive sonde.binary;
    requires transitive sonde.recording;
    requires transitive sonde.exchange;
    requires transitive sonde.event;
    requires transitive sonde.symbol;
    requires transitive sonde.analysis;
    requires transitive sonde.lang;
    requires transitive sonde.open;
    requires transitive sonde.store;
    requires sonde.view;
    requires com.fasterxml.jackson.core;
    requires info.picocli;
    requires sonde.sys;
    requires sonde.bpf;

    exports sonde.tools.bpf;
    exports sonde.tools.convert;
    exports sonde.tools.doctor;
    exports sonde.tools.elf;
    exports sonde.tools.explain;
    exports sonde.tools.ftrace;
    exports sonde.tools.heap;
    exports sonde.tools.help;
    exports sonde.tools.kernel;
    exports sonde.tools.leaks;
    exports sonde.tools.list;
    exports sonde.tools.option;
    exports sonde.tools.probe;
    exports sonde.tools.query;
    exports sonde.tools.record;
    exports sonde.tools.report;
    exports sonde.tools.report.section;
    exports sonde.tools.script;
    exports sonde.tools.symbolize;
    exports sonde.tools.calls;
    exports sonde.tools.syscalls;
    exports sonde.tools.trace;
}
