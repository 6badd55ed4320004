/** Tracing languages: parse, check, plan, lower to eBPF. */
@org.jspecify.annotations.NullMarked
module sonde.lang {
    requires static org.jspecify;
    requires transitive sonde.bpf;
    requires sonde.binary;
    requires sonde.recording;
    requires sonde.probe;
    requires transitive sonde.symbol;
    requires sonde.sys;

    exports sonde.lang.bpftrace.ahead;
    exports sonde.lang.bpftrace.expand;
    exports sonde.lang.bpftrace.run;
    exports sonde.lang.bpftrace.syntax;
    exports sonde.lang.declare;
    exports sonde.lang.ir;
    exports sonde.lang.output;
    exports sonde.lang.probes;
    exports sonde.lang.source;
    exports sonde.lang.type;
}
