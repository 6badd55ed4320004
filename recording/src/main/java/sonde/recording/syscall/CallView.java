package sonde.recording.syscall;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A call as its printers see it.
 *
 * @param entry null when the call began before the trace, or was lost
 * @param exit null as long as it has not ended
 */
record CallView(
        CallStyle style,
        @Nullable CallRecord entry,
        @Nullable CallRecord exit,
        int pid,
        long number,
        long[] arguments) {
    /** Captured memory. */
    record Piece(byte[] bytes, int offset, int length) {
        int u8(int at) {
            return bytes[offset + at] & 0xff;
        }

        int u16(int at) {
            return CallRecord.u16(bytes, offset + at);
        }

        int s32(int at) {
            return CallRecord.s32(bytes, offset + at);
        }

        long s64(int at) {
            return CallRecord.s64(bytes, offset + at);
        }

        /** The letters up to a NUL, at most so many bytes. */
        String string(int at, int most) {
            int end = 0;
            while (end < most && at + end < length && u8(at + end) != 0) {
                end++;
            }
            return new String(bytes, offset + at, end, StandardCharsets.ISO_8859_1);
        }

        /** A part of it, as far as it reaches. */
        Piece part(int from, int most) {
            int begin = Math.min(from, length);
            return new Piece(bytes, offset + begin, Math.min(most, length - begin));
        }
    }

    static CallView of(CallStyle style, @Nullable CallRecord entry, @Nullable CallRecord exit) {
        CallRecord any = entry != null ? entry : exit;
        if (any == null) {
            throw new IllegalArgumentException("neither entry nor exit");
        }
        long[] arguments = new long[6];
        for (int i = 0; i < 6; i++) {
            arguments[i] = any.argument(i);
        }
        return new CallView(style, entry, exit, any.pid(), any.number(), arguments);
    }

    /** Whether structs are shown with all fields. */
    boolean verbose() {
        return style.calls().verbose().get(index());
    }

    /** Whether addresses of structs are shown, not what they point to. */
    boolean pointers() {
        return style.calls().pointers().get(index());
    }

    /** Whether arguments are numbers. */
    boolean raw() {
        return style.calls().raw().get(index());
    }

    private int index() {
        return number < 0 || number >= CallTable.CALLS ? CallTable.CALLS : (int) number;
    }

    long result() {
        return exit == null ? 0 : exit.result();
    }

    boolean failed() {
        return exit == null || isError(exit.result());
    }

    static boolean isError(long result) {
        return result < 0 && result >= -4095;
    }

    /** What an argument pointed to when the call began. */
    @Nullable Piece in(int argument, int part) {
        Piece early = piece(entry, argument, part, 0);
        Piece late = early == null ? piece(exit, argument, part, CallRecord.AGAIN) : early;
        return late == null ? piece(entry, argument, part, CallRecord.CUT) : late;
    }

    /** What it points to when the call has ended. */
    @Nullable Piece out(int argument, int part) {
        Piece whole = piece(exit, argument, part, 0);
        return whole == null ? piece(exit, argument, part, CallRecord.CUT) : whole;
    }

    /** The file behind a descriptor: an argument, or {@link CaptureOp#RESULT}. */
    @Nullable Piece file(int argument) {
        return file(argument, FilePiece.PART);
    }

    /** The file behind a descriptor of an array. */
    @Nullable Piece file(int argument, long element) {
        return element >= CaptureOp.PARTS
                ? null
                : file(argument, FilePiece.PART + 1 + (int) element);
    }

    private @Nullable Piece file(int argument, int part) {
        Piece early = piece(entry, argument, part, 0);
        Piece file = early == null ? piece(exit, argument, part, 0) : early;
        return file == null || file.length() < FilePiece.BYTES ? null : file;
    }

    private static @Nullable Piece piece(
            @Nullable CallRecord record, int argument, int part, int flags) {
        int at = record == null ? -1 : record.piece(argument, part, flags);
        return record == null || at < 0
                ? null
                : new Piece(record.bytes(), at + 8, CallRecord.s32(record.bytes(), at + 4));
    }
}
