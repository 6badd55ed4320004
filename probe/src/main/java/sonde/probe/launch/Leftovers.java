package sonde.probe.launch;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.bpf.link.LeftEvents;
import sonde.probe.printk.PrintLease;
import sonde.probe.tracefs.InstanceName;
import sonde.probe.tracefs.Tracefs;

/**
 * What killed processes of this program left switched on or lying about. That they are dead is
 * proven: by boot, pid namespace, pid and start time in a name, or by a lock that ends with its
 * holder. Every command that is about to use the kernel removes it, as far as its user may.
 */
public final class Leftovers {
    /**
     * Something of a process.
     *
     * @param removed whether it is gone now
     * @param why it was removed or stays
     */
    public record Leftover(String kind, String name, boolean removed, String why) {}

    private static final String DEAD = "its process is dead";

    private Leftovers() {}

    /**
     * Removes what dead processes left.
     *
     * @return what was removed
     */
    public static List<Leftover> remove() {
        List<Leftover> all = new ArrayList<>();
        Optional<Tracefs> tracefs = Tracefs.find();
        if (tracefs.isPresent()) {
            for (String name : tracefs.get().removeLeftovers()) {
                boolean instance = InstanceName.parse(name).isPresent();
                String kind = instance ? "ftrace instance" : "file of tracefs";
                all.add(new Leftover(kind, name, true, DEAD));
            }
            for (String name : LeftEvents.remove()) {
                all.add(new Leftover("event of the kernel", name, true, DEAD));
            }
        }
        for (String name : PrintLease.removeLeftovers()) {
            all.add(new Leftover("switched messages", name, true, DEAD));
        }
        for (Path folder : ScratchFolder.sweep(ScratchFolder.temporaryFiles())) {
            all.add(new Leftover("temporary folder", folder.toString(), true, DEAD));
        }
        return all;
    }

    /** {@link #remove}, and the instances that stay. */
    public static List<Leftover> examine() {
        List<Leftover> all = remove();
        for (String name : Tracefs.find().map(Tracefs::instances).orElse(List.of())) {
            all.add(new Leftover("ftrace instance", name, false, whyItStays(name)));
        }
        return all;
    }

    private static String whyItStays(String name) {
        Optional<InstanceName> parsed = InstanceName.parse(name);
        if (parsed.isEmpty()) {
            return "another tracer's; sonde leaves it alone";
        }
        InstanceName ours = parsed.get();
        if (ours.isLeftover()) {
            return "its process is dead, but this user may not remove it, or somebody reads from"
                    + " it";
        }
        return InstanceName.startTicks(ours.pid()) == ours.startTicks()
                ? "process " + ours.pid() + " uses it"
                : "a sonde's of another container, which cannot be seen from here";
    }
}
