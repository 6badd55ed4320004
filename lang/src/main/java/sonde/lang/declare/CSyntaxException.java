package sonde.lang.declare;

import java.io.Serial;

/** C that cannot be read. */
final class CSyntaxException extends Exception {
    @Serial private static final long serialVersionUID = 1;

    private final transient CToken place;

    CSyntaxException(CToken place, String message) {
        super(message, null, false, false);
        this.place = place;
    }

    CToken place() {
        return place;
    }

    String text() {
        return String.valueOf(getMessage());
    }
}
