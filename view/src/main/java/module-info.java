/** How results are shown: text, JSON, HTML. */
@org.jspecify.annotations.NullMarked
module sonde.view {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires com.fasterxml.jackson.core;
    requires sonde.assets;

    exports sonde.view;
}
