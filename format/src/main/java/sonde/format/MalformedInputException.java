package sonde.format;

import java.io.IOException;

/** Input that breaks its own format: where, and what stood there. */
public final class MalformedInputException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String format;
    private final String field;
    private final long offset;

    /**
     * @param format the format's name: "trace.dat", "perf.data"
     * @param field what was being read
     * @param offset of the field in the input, -1 when unknown
     * @param found what stood there
     */
    public MalformedInputException(String format, String field, long offset, String found) {
        super(
                "malformed "
                        + format
                        + ": "
                        + field
                        + (offset < 0 ? "" : " at offset " + offset)
                        + ": "
                        + found);
        this.format = format;
        this.field = field;
        this.offset = offset;
    }

    /** The format's name. */
    public String format() {
        return format;
    }

    /** What was being read. */
    public String field() {
        return field;
    }

    /** Offset of the field in the input, -1 when unknown. */
    public long offset() {
        return offset;
    }
}
