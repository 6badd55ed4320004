package sonde.lang.probes;

import java.io.IOException;

/**
 * The kernel did not attach a program. The message is what bpftrace says, without what to do about
 * it; {@link #reason} is the cause in the kernel's words.
 */
public final class AttachException extends IOException {
    private static final long serialVersionUID = 1;

    private final String probe;
    private final String reason;

    AttachException(String probe, String reason, IOException cause) {
        super("Unable to attach probe: " + probe, cause);
        this.probe = probe;
        this.reason = reason;
    }

    /** Its name. */
    public String probe() {
        return probe;
    }

    /** Whether the kernel refuses this place of a file, as it does instructions of some kinds. */
    public boolean isOfPlace() {
        return UserLinks.isOfPlace(getCause());
    }

    /** Why. */
    public String reason() {
        return reason;
    }
}
