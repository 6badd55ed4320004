/** What every part of sonde speaks: event types, batches of events, results. Requires nothing. */
@org.jspecify.annotations.NullMarked
module sonde.event {
    requires static org.jspecify;

    exports sonde.event;
    exports sonde.event.heap;
    exports sonde.event.result;
}
