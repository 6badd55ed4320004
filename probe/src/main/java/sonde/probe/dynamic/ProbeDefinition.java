package sonde.probe.dynamic;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A probe as tracefs takes it (Documentation/trace/kprobetrace.rst, uprobetracer.rst).
 *
 * @param kind {@code p} at an address, {@code r} at the return of a function, {@code f} at entry or
 *     return through the function tracer (fprobetrace.rst), {@code t} at a tracepoint
 * @param place {@code "vfs_read+8"}, {@code "/bin/bash:0x1234"}, of the function tracer {@code
 *     "vfs_read%return"}
 * @param isUser whether it is one of a program
 * @param source where it is in the source, for people
 * @param note what is to be said about the place; empty for nothing
 */
public record ProbeDefinition(
        char kind,
        String group,
        String name,
        String place,
        List<ProbeArgument> arguments,
        boolean isUser,
        String source,
        String note) {
    /** {@code "probe:vfs_read"}. */
    public String event() {
        return group + ":" + name;
    }

    /** The line that is written. */
    public String text() {
        String words =
                arguments.stream()
                        .map(argument -> " " + argument.text())
                        .collect(Collectors.joining());
        return kind + ":" + group + "/" + name + " " + place + words;
    }

    ProbeDefinition named(String other) {
        return new ProbeDefinition(kind, group, other, place, arguments, isUser, source, note);
    }

    ProbeDefinition at(String otherPlace) {
        return new ProbeDefinition(kind, group, name, otherPlace, arguments, isUser, source, note);
    }
}
