/** Opening what a user names: a file, an archive, a pipe, a folder, a bundle. */
@org.jspecify.annotations.NullMarked
module sonde.open {
    requires static org.jspecify;
    requires transitive sonde.analysis;
    requires transitive sonde.event;
    requires transitive sonde.binary;
    requires transitive sonde.recording;
    requires transitive sonde.exchange;
    requires transitive sonde.symbol;
    requires transitive sonde.sys;
    requires transitive sonde.probe;
    requires sonde.store;

    exports sonde.open;
    exports sonde.open.format;
}
