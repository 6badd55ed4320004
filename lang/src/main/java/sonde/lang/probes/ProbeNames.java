package sonde.lang.probes;

/** Gives probes the names that scripts want for them. */
final class ProbeNames {
    private ProbeNames() {}

    /** The same probe with another name. */
    static Probe with(Probe probe, String name) {
        return switch (probe) {
            case Probe.Special p -> new Probe.Special(p.kind(), name, p.word());
            case Probe.Timer p -> new Probe.Timer(p.kind(), name, p.nanos(), p.hertz());
            case Probe.PerfEvent p ->
                    new Probe.PerfEvent(p.kind(), name, p.type(), p.config(), p.count());
            case Probe.Tracepoint p -> new Probe.Tracepoint(name, p.subsystem(), p.event());
            case Probe.RawTracepoint p ->
                    new Probe.RawTracepoint(name, p.module(), p.event(), p.btfId());
            case Probe.Kernel p ->
                    new Probe.Kernel(
                            p.kind(), name, p.module(), p.function(), p.offset(), p.address());
            case Probe.Fentry p ->
                    new Probe.Fentry(
                            p.kind(), name, p.module(), p.function(), p.btfId(), p.program());
            case Probe.User p ->
                    new Probe.User(
                            p.kind(), name, p.path(), p.function(), p.offset(), p.fileOffset());
            case Probe.Usdt p ->
                    new Probe.Usdt(name, p.path(), p.provider(), p.marker(), p.locations());
            case Probe.Watchpoint p ->
                    new Probe.Watchpoint(name, p.address(), p.length(), p.mode());
            case Probe.Iter p -> new Probe.Iter(name, p.iterator(), p.pin(), p.btfId());
        };
    }
}
