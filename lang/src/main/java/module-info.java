/** Tracing languages: parse, check, plan, lower to eBPF. */
@org.jspecify.annotations.NullMarked
module sonde.lang {
    requires static org.jspecify;

    exports sonde.lang.bpftrace.syntax;
    exports sonde.lang.source;
}
