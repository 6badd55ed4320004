package sonde.binary;

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
     * @param offset of the field in the input, bytes; negative when it has no one place
     * @param found what stood there, or why it cannot be
     */
    public MalformedInputException(String format, String field, long offset, String found) {
        super(format + ": " + reason(field, offset, found));
        this.reason = reason(field, offset, found);
    }

    private static String reason(String field, long offset, String found) {
        return field + (offset < 0 ? "" : " at byte " + offset) + ": " + found;
    }

    /**
     * About a file that is whole, and known, but holds nothing that is read.
     *
     * @param why the rest of a sentence that begins with the file's name
     */
    public static MalformedInputException refusal(String why) {
        return new MalformedInputException("text", "kind", -1, why);
    }

    /** The message without the name that it begins with. */
    public String reason() {
        return reason;
    }

    /**
     * What reading a mapped file beyond its present end throws: the JVM turns SIGBUS into an
     * InternalError that says so.
     *
     * @throws InternalError when it is another one
     */
    public static MalformedInputException shrunk(InternalError fault) {
        if (!String.valueOf(fault.getMessage()).contains("a fault occurred")) {
            throw fault;
        }
        return new MalformedInputException(
                "file", "size", -1, "it became shorter while it was being read");
    }
}
