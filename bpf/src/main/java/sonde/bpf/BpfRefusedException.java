package sonde.bpf;

import java.io.IOException;

/**
 * bpf(2) or an attachment was refused by policy or for lack of the feature, before anything looked
 * at the program.
 */
public final class BpfRefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int errno;
    private final String reason;
    private final String remedy;

    /**
     * @param what was tried: {@code "program sonde_exit"}
     * @param errno what came back
     * @param reason in words
     * @param remedy what to do, empty when nothing helps
     */
    public BpfRefusedException(String what, int errno, String reason, String remedy) {
        super(what + ": " + reason + (remedy.isEmpty() ? "" : "; " + remedy));
        this.errno = errno;
        this.reason = reason;
        this.remedy = remedy;
    }

    /** The errno, positive. */
    public int errno() {
        return errno;
    }

    /** Why, in words. */
    public String reason() {
        return reason;
    }

    /** What to do; empty when nothing helps. */
    public String remedy() {
        return remedy;
    }
}
