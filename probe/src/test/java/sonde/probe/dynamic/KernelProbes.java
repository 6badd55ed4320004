package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import sonde.symbol.files.GivenPlaces;

/** Records kernel probes while a command runs. */
final class KernelProbes {
    private KernelProbes() {}

    /** A kernel or module to be opened. */
    interface Opened {
        ProbedObject open() throws IOException;
    }

    /** The kernel itself, with the types of BTF. */
    static ProbedObject kernel() throws IOException {
        return ProbedObject.kernel(GivenPlaces.NONE);
    }

    /** Fields of each hit, its event as {@code event} and its thread as {@code tid}. */
    static List<Map<String, String>> recorded(
            Opened subject,
            UnaryOperator<ProbeDefiner> how,
            List<String> specs,
            List<String> command)
            throws Exception {
        NamedProbes probes = NamedProbes.open();
        List<ProbeDefinition> made = new ArrayList<>();
        try (ProbedObject kernel = subject.open()) {
            ProbeDefiner definer =
                    how.apply(
                            new ProbeDefiner(kernel)
                                    .avoiding(probes.events())
                                    .choosing(probes.kinds()));
            for (String spec : specs) {
                made.addAll(definer.define(PointSpec.parse(spec)));
            }
            probes.add(kernel, made);
            try (TraceText trace = new TraceText("kernel")) {
                for (ProbeDefinition one : made) {
                    trace.enable(one.event(), true);
                }
                Programs.run(command);
                for (ProbeDefinition one : made) {
                    trace.enable(one.event(), false);
                }
                return trace.lines().stream()
                        .map(line -> {
                            Map<String, String> pairs = Programs.pairs(line);
                            pairs.put("event", line.replaceAll(".*: (\\w+): \\(.*", "$1"));
                            pairs.put("tid", line.replaceAll("^\\s*.*-(\\d+)\\s+\\[.*", "$1"));
                            return pairs;
                        })
                        .toList();
            } finally {
                for (ProbeDefinition one : made) {
                    probes.delete(one.event(), false);
                }
            }
        }
    }
}
