package sonde.tools.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.result.Frame;
import sonde.format.bundle.Meta;
import sonde.store.derive.Silence;
import sonde.store.derive.TraceInput;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.Symbolizer;
import sonde.sys.Syscalls;

/** What a query needs of a recording: the same operators' inputs as a report's. */
public final class QueryInput {
    private QueryInput() {}

    /**
     * The recording as the store takes it; {@code source} stays the caller's.
     *
     * @param shiftNanos to be added to its times
     */
    public static TraceInput of(ReportSource source, long shiftNanos) {
        Syscalls names = source.syscalls();
        return new TraceInput(
                source.name(),
                source.recordings(),
                shiftNanos,
                source.tree(),
                source.comms(),
                silence(source),
                names::nameOf,
                () -> symbols(source));
    }

    private static @Nullable Silence silence(ReportSource source) {
        Meta meta = source.meta();
        if (meta == null) {
            return null;
        }
        boolean switches = source.planned("sched:sched_switch", "switch");
        ThreadState as = switches ? ThreadState.SLEEPING : ThreadState.UNKNOWN;
        return new Silence(meta.times().startNanos(), meta.times().endNanos(), as);
    }

    /** Follows mappings and names code; nothing is read before a name is asked for. */
    public static ProcessSymbols symbols(ReportSource source) {
        ProcessMaps maps = new ProcessMaps();
        return new ProcessSymbols(maps, new Names(source, maps), source.fileIds());
    }

    /** Names are looked up when the first is asked for: most statements want none. */
    private static final class Names implements Function<Long, Frame> {
        private final ReportSource source;
        private final ProcessMaps maps;
        private @Nullable Symbolizer symbolizer;

        Names(ReportSource source, ProcessMaps maps) {
            this.source = source;
            this.maps = maps;
        }

        @Override
        public Frame apply(Long location) {
            Symbolizer found = symbolizer;
            if (found == null) {
                found = make();
                symbolizer = found;
            }
            return found.frame(location);
        }

        private Symbolizer make() {
            try {
                SymbolOptions from = source.symbolOptions();
                KernelSymbols kernel = RecordedKernel.symbols(source, from);
                Symbolizer made = new Symbolizer(maps, kernel, from);
                made.perfMapsFrom(pid -> LeftPerfMaps.read(source, pid));
                source.jvmMaps().forEach((pid, text) -> made.addPerfMap(pid, 0, text));
                return made;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
