package sonde.lang.probes;

import java.util.List;

/**
 * Probes that one program is attached to.
 *
 * <p>Each probe of a group has a number that the program finds by bpf_get_attach_cookie (Linux
 * 5.15; of raw tracepoints 6.10): its place in the list. Of a marker it is {@link #cookie} of that
 * and of the location.
 *
 * @param probes at least one, all of one kind
 * @param shared whether there may be more than one
 * @param multi whether they are attached by one link, which the program must be loaded for
 * @param session whether the program runs when the functions return, too: it asks which it is
 */
public record ProbeGroup(List<Probe> probes, boolean shared, boolean multi, boolean session) {
    private static final int LOCATION_BITS = 16;

    public ProbeGroup {
        probes = List.copyOf(probes);
        if (probes.isEmpty()) {
            throw new IllegalArgumentException("a group of no probes");
        }
    }

    /** At the begin or the return of functions. */
    public ProbeGroup(List<Probe> probes, boolean shared, boolean multi) {
        this(probes, shared, multi, false);
    }

    /** Attached by links of their own. */
    public ProbeGroup(List<Probe> probes, boolean shared) {
        this(probes, shared, false);
    }

    /** A group of a single probe. */
    public static ProbeGroup of(Probe probe) {
        return new ProbeGroup(List.of(probe), false, false);
    }

    /** The same functions at begin and return by one link (Linux 6.10). */
    public ProbeGroup atReturnToo() {
        return new ProbeGroup(probes, shared, true, true);
    }

    /** The first, which tells the kind of all. */
    public Probe first() {
        return probes.getFirst();
    }

    /**
     * The cookie of a location of a marker: the probe's number from bit 16, below the location's.
     */
    public static long cookie(int probe, int location) {
        return (long) probe << LOCATION_BITS | location;
    }

    /** The number of the probe in the cookie of a location of a marker. */
    static int index(long cookie) {
        return (int) (cookie >>> LOCATION_BITS);
    }
}
