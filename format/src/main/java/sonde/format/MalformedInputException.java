package sonde.format;

import java.io.IOException;

/** Input that does not follow its format. */
public final class MalformedInputException extends IOException {
    private static final long serialVersionUID = 1;

    private final String reason;

    /**
     * Bytes that cannot be.
     *
     * @param format name of the format ("trace.dat") or of the file
     * @param field what was being read, in the words of the format's specification
     * @param offset of the field in the input, bytes
     * @param found what stood there, or why it cannot be
     */
    public MalformedInputException(String format, String field, long offset, String found) {
        super(format + ": " + field + " at byte " + offset + ": " + found);
        this.reason = field + " at byte " + offset + ": " + found;
    }

    /** The message without the name that it begins with. */
    public String reason() {
        return reason;
    }
}
