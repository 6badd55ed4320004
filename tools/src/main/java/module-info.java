/** Recipes: record, report, list, doctor. */
@org.jspecify.annotations.NullMarked
module sonde.tools {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires sonde.sys;
    requires sonde.format;
    requires sonde.symbol;
    requires sonde.bpf;
    requires sonde.probe;
    requires sonde.analysis;
    requires sonde.view;
    requires com.fasterxml.jackson.core;

    exports sonde.tools.report;
}
