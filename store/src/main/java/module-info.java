/** SQL over recordings on embedded DuckDB; loaded by no command that records or lists. */
@org.jspecify.annotations.NullMarked
module sonde.store {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires transitive sonde.analysis;
    requires sonde.sys;

    exports sonde.store;
    exports sonde.store.derive;
    exports sonde.store.duckdb;
}
