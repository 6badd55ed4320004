/** Where to probe: kernel features, plans, sessions and their backends. */
@org.jspecify.annotations.NullMarked
module sonde.probe {
    requires static org.jspecify;
    requires transitive sonde.binary;
    requires transitive sonde.recording;
    requires transitive sonde.sys;
    requires transitive sonde.event;
    requires transitive sonde.symbol;
    requires com.fasterxml.jackson.core;
    requires jdk.unsupported;
    requires sonde.bpf;

    exports sonde.probe.dynamic;
    exports sonde.probe.heap;
    exports sonde.probe.jvm;
    exports sonde.probe.kmem;
    exports sonde.probe.launch;
    exports sonde.probe.names;
    exports sonde.probe.perf;
    exports sonde.probe.plan;
    exports sonde.probe.printk;
    exports sonde.probe.record;
    exports sonde.probe.snapshot;
    exports sonde.probe.stack;
    exports sonde.probe.syscall;
    exports sonde.probe.tracefs;
}
