package sonde.recording.tracedat;

import java.util.Map;
import java.util.TreeMap;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;

/**
 * Option GUEST of a host's file.
 *
 * @param traceId of the guest's own file
 * @param hostTids host thread that runs each virtual CPU
 */
public record GuestOption(String name, long traceId, Map<Integer, Integer> hostTids) {
    private static final int MOST_CPUS = 1 << 16;

    public GuestOption {
        hostTids = Map.copyOf(hostTids);
    }

    static GuestOption read(FieldCursor option) throws MalformedInputException {
        String name = option.text("guest: name", 4096);
        long id = option.u64("guest: trace id");
        int cpus = option.bounded("guest: CPUs", option.u32("guest: CPUs"), MOST_CPUS);
        Map<Integer, Integer> tids = new TreeMap<>();
        for (int i = 0; i < cpus; i++) {
            int cpu = option.s32("guest: CPU");
            tids.put(cpu, option.s32("guest: host tid"));
        }
        return new GuestOption(name, id, tids);
    }
}
