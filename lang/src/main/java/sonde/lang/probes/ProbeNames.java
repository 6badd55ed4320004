package sonde.lang.probes;

import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.Probe.PerfEventProbe;
import sonde.lang.probes.Probe.TimerProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.lang.probes.Probe.TracerProbe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.probes.Probe.WatchpointProbe;

/** Gives probes the names that scripts want for them. */
final class ProbeNames {
    private ProbeNames() {}

    /** The same probe with another name. */
    static Probe with(Probe probe, String name) {
        return switch (probe) {
            case TracerProbe p -> new TracerProbe(p.kind(), name, p.word());
            case TimerProbe p -> new TimerProbe(p.kind(), name, p.nanos(), p.hertz());
            case PerfEventProbe p ->
                    new PerfEventProbe(p.kind(), name, p.type(), p.config(), p.count());
            case TracepointProbe p -> new TracepointProbe(name, p.subsystem(), p.event());
            case Probe.RawTracepoint p ->
                    new Probe.RawTracepoint(name, p.module(), p.event(), p.btfId());
            case KernelProbe p ->
                    new KernelProbe(
                            p.kind(), name, p.module(), p.function(), p.offset(), p.address());
            case FentryProbe p ->
                    new FentryProbe(
                            p.kind(), name, p.module(), p.function(), p.btfId(), p.program());
            case UserProbe p ->
                    new UserProbe(
                            p.kind(), name, p.path(), p.function(), p.offset(), p.fileOffset());
            case UsdtProbe p ->
                    new UsdtProbe(name, p.path(), p.provider(), p.marker(), p.locations());
            case WatchpointProbe p -> new WatchpointProbe(name, p.address(), p.length(), p.mode());
            case IteratorProbe p -> new IteratorProbe(name, p.iterator(), p.pin(), p.btfId());
        };
    }
}
