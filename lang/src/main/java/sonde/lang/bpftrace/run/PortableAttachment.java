package sonde.lang.bpftrace.run;

import java.util.List;

/**
 * How a program is attached on other machines.
 *
 * @param place programs of one place are alternatives, in the order of their rank
 * @param optional whether the script does without
 * @param points as a script would say them; patterns are looked up again
 */
record PortableAttachment(int place, boolean optional, List<String> points) {
    PortableAttachment {
        points = List.copyOf(points);
    }
}
