package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.usdt.UsdtArgument;
import sonde.bpf.usdt.UsdtLocation;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.ProbeGroup;

/** Markers whose arguments lie elsewhere at each of their places. */
final class UsdtSites {
    private UsdtSites() {}

    /** Groups of which each finds its arguments in the same way; the same when none are used. */
    static List<ProbeGroup> split(ProbeGroup group, boolean usesArguments) {
        if (!usesArguments || !(group.first() instanceof UsdtProbe)) {
            return List.of(group);
        }
        Map<List<UsdtArgument>, List<Probe>> byArguments = new LinkedHashMap<>();
        for (Probe probe : group.probes()) {
            UsdtProbe marker = (UsdtProbe) probe;
            Map<List<UsdtArgument>, List<UsdtLocation>> places = new LinkedHashMap<>();
            for (UsdtLocation location : marker.locations()) {
                places.computeIfAbsent(location.arguments(), a -> new ArrayList<>()).add(location);
            }
            places.forEach((arguments, locations) ->
                    byArguments
                            .computeIfAbsent(arguments, a -> new ArrayList<>())
                            .add(
                                    new UsdtProbe(
                                            marker.name(),
                                            marker.path(),
                                            marker.provider(),
                                            marker.marker(),
                                            locations)));
        }
        return byArguments.values().stream()
                .map(probes -> new ProbeGroup(probes, probes.size() > 1, group.multi()))
                .toList();
    }

    /** Where a marker's arguments lie; null for what is not a marker. */
    static @Nullable List<UsdtArgument> of(Probe probe) {
        return probe instanceof UsdtProbe u && !u.locations().isEmpty()
                ? u.locations().getFirst().arguments()
                : null;
    }
}
