/** Recipes: record, report, list, doctor. */
@org.jspecify.annotations.NullMarked
module sonde.tools {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires sonde.sys;
    requires transitive sonde.format;
    requires sonde.symbol;
    requires sonde.bpf;
    requires transitive sonde.probe;
    requires sonde.analysis;

    exports sonde.tools.doctor;
    exports sonde.tools.list;
    exports sonde.tools.record;
    exports sonde.tools.report;
}
