package sonde.probe.dynamic;

import java.io.IOException;
import java.util.List;
import sonde.probe.dynamic.FetchArgument.FetchNames;
import sonde.probe.dynamic.PointSpec.PointPlace.TracepointPoint;

/**
 * Probes at tracepoints of the kernel that see the arguments themselves, not the event's fields: a
 * probe of the stub that every tracepoint has (trace_fprobe.c).
 */
final class TracepointDefiner {
    private final ProbedObject subject;

    TracepointDefiner(ProbedObject subject) {
        this.subject = subject;
    }

    /** {@code $arg1} is the second parameter of the stub, whose first is the registration's. */
    private record StubArguments(FetchNames arguments) implements FetchArgument.FetchNames {
        @Override
        public String register(int number) {
            return "";
        }

        @Override
        public String argument(int index) {
            return arguments.argument(index - 1);
        }

        @Override
        public String spelled(String name) {
            return "";
        }

        @Override
        public int hidden() {
            return 1;
        }
    }

    List<ProbeDefinition> define(PointSpec spec, TracepointPoint wanted, ProbeDefiner definer)
            throws IOException {
        KernelImage kernel = subject.kernel();
        if (kernel == null) {
            throw new ProbeException("tracepoints are in the kernel; without -x and -p");
        }
        String stub = stub(kernel, wanted.name());
        ProbeLocation spot =
                new ProbeLocation(0, stub, stub, 0, null, "", 0, 0, true, false, false, "");
        FetchNames names = new StubArguments(subject.registers().asArguments(false));
        List<ProbeArgument> arguments =
                definer.arguments(spec, new LocationScope(subject, spot, names));
        String group = spec.group().isEmpty() ? "probe" : spec.group();
        String name = definer.unique(group, spec.name().isEmpty() ? wanted.name() : spec.name());
        return List.of(
                new ProbeDefinition(
                        't',
                        group,
                        name,
                        wanted.name(),
                        arguments,
                        false,
                        "tracepoint:" + wanted.name(),
                        ""));
    }

    /** The function that has the tracepoint's parameters (include/linux/tracepoint.h). */
    private static String stub(KernelImage kernel, String name) throws IOException {
        for (String prefix : List.of("__probestub_", "__traceiter_")) {
            if (kernel.function(prefix + name).isPresent()) {
                return prefix + name;
            }
        }
        if (kernel.names().count("__traceiter_" + name) > 0 || kernel.names().isEmpty()) {
            return "__traceiter_" + name;
        }
        List<String> near = kernel.names().near("__traceiter_" + name);
        StringBuilder words = new StringBuilder();
        for (String one : near) {
            if (one.startsWith("__traceiter_")) {
                words.append(words.isEmpty() ? "; did you mean " : " or ")
                        .append(one.substring("__traceiter_".length()));
            }
        }
        throw new ProbeException(
                "there is no tracepoint " + name + words + (words.isEmpty() ? "" : "?"));
    }
}
