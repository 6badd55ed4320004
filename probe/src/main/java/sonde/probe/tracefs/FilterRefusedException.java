package sonde.probe.tracefs;

import java.io.IOException;

/**
 * A filter that the kernel does not take. The first line of the message says why, the next two show
 * the user's text with a caret below the place.
 */
public final class FilterRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    /** A filter of an event with an error at a place of its text. */
    FilterRefusedException(String event, String why, String text, int place) {
        super(
                "the kernel refuses the filter of "
                        + event
                        + ": "
                        + why
                        + "\n  "
                        + text
                        + "\n  "
                        + " ".repeat(Math.min(place, text.length()))
                        + "^");
    }
}
