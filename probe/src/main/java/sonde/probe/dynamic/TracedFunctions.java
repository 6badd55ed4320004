package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.List;

/** Entries and returns as the function tracer finds them: whole functions, by name. */
final class TracedFunctions {
    private final ProbedObject subject;

    TracedFunctions(ProbedObject subject) {
        this.subject = subject;
    }

    /**
     * Those of the spots that have a function of their own.
     *
     * @throws ProbeException where none has, or the name is that of several functions
     */
    List<ProbeLocation> of(List<ProbeLocation> spots) throws ProbeException {
        List<ProbeLocation> whole = new ArrayList<>();
        List<String> outer = new ArrayList<>();
        for (ProbeLocation spot : spots) {
            if (spot.isInlined()) {
                outer.add(spot.note().replaceFirst("^inlined in ", ""));
            } else {
                whole.add(spot);
            }
        }
        if (whole.isEmpty()) {
            throw new ProbeException(
                    spots.getFirst().function()
                            + " is inlined everywhere: the function tracer does not see it");
        }
        KernelImage kernel = subject.kernel();
        KernelModule module = subject.module();
        if (module != null && !module.isLoaded()) {
            throw new ProbeException(
                    module.name()
                            + " is not loaded: the function tracer finds functions of loaded"
                            + " modules only");
        }
        for (ProbeLocation spot : whole) {
            int count = kernel == null ? 0 : kernel.names().count(spot.symbol());
            long same = whole.stream().filter(o -> o.symbol().equals(spot.symbol())).count();
            if (spot.symbol().isEmpty() || count > 1 || same > 1) {
                throw new ProbeException(
                        spot.function()
                                + " is the name of several functions, and the function tracer"
                                + " finds them by name");
            }
        }
        return outer.isEmpty()
                ? whole
                : whole.stream()
                        .map(spot ->
                                spot.noted(
                                        "not where it is inlined: "
                                                + String.join(
                                                        ", ", outer.stream().distinct().toList())))
                        .toList();
    }
}
