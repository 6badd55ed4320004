/** eBPF: instructions, maps, programs, loading. */
@org.jspecify.annotations.NullMarked
module sonde.bpf {
    requires static org.jspecify;
    requires transitive sonde.event;
    requires sonde.binary;
    requires sonde.symbol;
    requires sonde.sys;

    exports sonde.bpf;
    exports sonde.bpf.classic;
    exports sonde.bpf.core;
    exports sonde.bpf.feature;
    exports sonde.bpf.insn;
    exports sonde.bpf.interpreter;
    exports sonde.bpf.inventory;
    exports sonde.bpf.link;
    exports sonde.bpf.map;
    exports sonde.bpf.object;
    exports sonde.bpf.ring;
    exports sonde.bpf.usdt;
    exports sonde.bpf.verifier;
}
