package sonde.event;

/**
 * A field of an event type: where its bytes lie in the payload.
 *
 * @param name as the kernel or the format spells it
 * @param declaration the C declaration it came from, for listings: {@code "char prev_comm[16]"}
 * @param kind how the bytes are to be taken
 * @param offset bytes from the start of the payload
 * @param sizeBytes bytes in the payload; for {@link Kind#TAIL_STRING} 0
 * @param elementBytes size of one element of an array, else equal to {@code sizeBytes}
 * @param signed whether an integer (or array element) is signed
 * @param bits of an integer that count, from the lowest; 0 for all
 * @param added to an integer: a probe records a register where its variable is a sum
 */
public record Field(
        String name,
        String declaration,
        Kind kind,
        int offset,
        int sizeBytes,
        int elementBytes,
        boolean signed,
        int bits,
        long added) {

    /** A field whose value is what its bytes say. */
    public Field(
            String name,
            String declaration,
            Kind kind,
            int offset,
            int sizeBytes,
            int elementBytes,
            boolean signed) {
        this(name, declaration, kind, offset, sizeBytes, elementBytes, signed, 0, 0);
    }

    /** Whether the value of an integer is not what its bytes say. */
    public boolean isDerived() {
        return bits != 0 || added != 0;
    }

    /** How the bytes of a field are to be taken. */
    public enum Kind {
        /** An integer of 1, 2, 4 or 8 bytes; pointers too. */
        INTEGER,
        /** {@code sizeBytes / elementBytes} integers in place. */
        ARRAY,
        /** A character array in place, ended by NUL or by its size. */
        CHARS,
        /**
         * ftrace {@code __data_loc}: a u32, the low 16 bits the offset from the start of the
         * payload, the high 16 the length (kernel include/trace/stages/stage3_trace_output.h).
         */
        DATA_LOC,
        /** ftrace {@code __rel_loc}: as {@link #DATA_LOC}, offset counted from the u32's end. */
        REL_LOC,
        /** A NUL-terminated string that runs to the end of the payload (perf's file names). */
        TAIL_STRING,
        /** An IEEE 754 number of 4 or 8 bytes. */
        FLOAT,
        /**
         * Text or an array elsewhere in the payload: a u32 with its offset from the start of the
         * payload, then a u32 with its bytes. Only in payloads that a reader makes.
         */
        SPAN,
    }

    /** An integer in place. */
    public static Field integer(String name, int offset, int sizeBytes, boolean signed) {
        String type = (signed ? "s" : "u") + sizeBytes * 8;
        return new Field(
                name, type + " " + name, Kind.INTEGER, offset, sizeBytes, sizeBytes, signed);
    }

    /** A string from {@code offset} to its NUL or the end of the payload. */
    public static Field tailString(String name, int offset) {
        return new Field(name, "char " + name + "[]", Kind.TAIL_STRING, offset, 0, 1, false);
    }

    /** Whether the field holds text: what {@link StringField} accepts. */
    public boolean isText() {
        return switch (kind) {
            case CHARS, TAIL_STRING -> true;
            case DATA_LOC, REL_LOC, SPAN -> element().contains("char");
            case INTEGER, ARRAY, FLOAT -> false;
        };
    }

    /** The declaration up to the name, which may contain the name of a type too. */
    private String element() {
        int end = declaration.lastIndexOf(name);
        return end < 0 ? declaration : declaration.substring(0, end);
    }

    /** Where its bytes begin in the payload of a row, inside it. */
    public int offset(Batch batch, int row) {
        int payloadBytes = batch.payloadBytes(row);
        if (offset + sizeBytes > payloadBytes) {
            return Math.min(offset, payloadBytes);
        }
        long start =
                switch (kind) {
                    case INTEGER, ARRAY, CHARS, TAIL_STRING, FLOAT -> offset;
                    case DATA_LOC -> batch.u32(row, offset) & 0xffff;
                    case REL_LOC -> offset + 4 + (batch.u32(row, offset) & 0xffff);
                    case SPAN -> batch.u32(row, offset) & 0xffff_ffffL;
                };
        return (int) Math.min(start, payloadBytes);
    }

    /** How many bytes there are in that row, never more than the payload has. */
    public int sizeBytes(Batch batch, int row) {
        int room = batch.payloadBytes(row) - offset(batch, row);
        if (offset + sizeBytes > batch.payloadBytes(row)) {
            return kind == Kind.ARRAY || kind == Kind.CHARS ? room : 0;
        }
        long size =
                switch (kind) {
                    case INTEGER, ARRAY, CHARS, FLOAT -> sizeBytes == 0 ? room : sizeBytes;
                    case TAIL_STRING -> room;
                    case DATA_LOC, REL_LOC -> batch.u32(row, offset) >>> 16;
                    case SPAN -> batch.u32(row, offset + 4) & 0xffff_ffffL;
                };
        return (int) Math.min(size, room);
    }
}
