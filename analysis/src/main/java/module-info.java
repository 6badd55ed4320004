/** How events are processed: operators and the engine that runs them. */
@org.jspecify.annotations.NullMarked
module sonde.analysis {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires sonde.format;
    requires sonde.symbol;
}
