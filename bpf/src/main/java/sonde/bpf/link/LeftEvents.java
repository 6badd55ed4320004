package sonde.bpf.link;

import java.util.ArrayList;
import java.util.List;
import sonde.bpf.call.PrintkEvent;

/** Events of the kernel that killed processes of this program left on. */
public final class LeftEvents {
    private LeftEvents() {}

    /**
     * Removes them.
     *
     * @return a name for each
     */
    public static List<String> remove() {
        List<String> removed = new ArrayList<>(NamedProbe.removeLeftovers());
        if (PrintkEvent.clean()) {
            removed.add("bpf_trace/bpf_trace_printk");
        }
        return removed;
    }
}
