package sonde.tools.explain;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.tools.explain.IncidentKind.IncidentWeight;

/** Which incidents are shown: by severity, by who wrote the line, and by time. */
public final class IncidentFilter {
    /** All incidents. */
    public static final IncidentFilter ALL =
            new IncidentFilter(EnumSet.allOf(IncidentWeight.class), Set.of(), null, null);

    private final Set<IncidentWeight> weights;
    private final Set<Integer> facilities;
    private final @Nullable LogMoment since;
    private final @Nullable LogMoment until;
    private long undated;

    IncidentFilter(
            Set<IncidentWeight> weights,
            Set<Integer> facilities,
            @Nullable LogMoment since,
            @Nullable LogMoment until) {
        this.weights = weights;
        this.facilities = facilities;
        this.since = since;
        this.until = until;
    }

    /** Whether it is shown. One without a date is, and is counted, when a date is asked for. */
    boolean wants(Incident incident) {
        LogStamp stamp = incident.stamp();
        boolean isOther =
                !facilities.isEmpty()
                        && stamp.facility() >= 0
                        && !facilities.contains(stamp.facility());
        if (isOther || !weights.contains(incident.kind().severity())) {
            return false;
        }
        double from = since == null ? Double.NaN : since.seconds() - time(incident, since);
        double to = until == null ? Double.NaN : time(incident, until) - until.seconds();
        boolean isUndated =
                since != null && Double.isNaN(from) || until != null && Double.isNaN(to);
        boolean wants = !(from > 0) && !(to > 0);
        undated += isUndated && wants ? 1 : 0;
        return wants;
    }

    private static double time(Incident incident, LogMoment moment) {
        return moment.isBoot() ? incident.first().seconds() : incident.stamp().epoch();
    }

    /** Incidents that were shown although nobody knows whether they are of the time asked for. */
    long undated() {
        return undated;
    }
}
