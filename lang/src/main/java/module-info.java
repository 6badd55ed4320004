/** Tracing languages: parse, check, plan, lower to eBPF. */
@org.jspecify.annotations.NullMarked
module sonde.lang {
    requires static org.jspecify;
    requires transitive sonde.bpf;

    exports sonde.lang.bpftrace.expand;
    exports sonde.lang.bpftrace.syntax;
    exports sonde.lang.ir;
    exports sonde.lang.source;
    exports sonde.lang.type;
}
