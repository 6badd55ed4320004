package sonde.tools.report;

import java.io.IOException;

/** A filter that leaves nothing of a recording: which, and what there is instead. */
public final class NothingMatchesException extends IOException {
    private static final long serialVersionUID = 1L;

    public NothingMatchesException(String message) {
        super(message);
    }
}
