package sonde.recording.syscall;

import sonde.recording.syscall.ArgumentShape.PointerTo;
import sonde.recording.syscall.CallView.Piece;
import sonde.recording.syscall.TargetShape.Special;
import sonde.recording.syscall.TargetShape.SpecialForm;

/** Data in hexadecimal and as letters, 16 bytes a line (-e read=, -e write=). */
final class HexDump {
    private HexDump() {}

    /** Appends what an argument points to, where that is data. */
    static void append(StringBuilder out, CallView call, int index, PointerTo pointer) {
        if (!(pointer.target() instanceof Special(SpecialForm form))) {
            return;
        }
        boolean isOut = pointer.out();
        if (form == SpecialForm.BYTES) {
            Piece piece = isOut ? call.out(index, 0) : call.in(index, 0);
            if (piece != null) {
                block(out, piece, call.result());
            }
        } else if (form == SpecialForm.IOV) {
            vector(out, call, index, isOut);
        }
    }

    private static void vector(StringBuilder out, CallView call, int index, boolean isOut) {
        Piece vector = isOut ? call.out(index, 0) : call.in(index, 0);
        long left = call.result();
        for (int i = 0; vector != null && i < vector.length() / 16; i++) {
            long length = isOut ? Math.min(left, vector.s64(i * 16 + 8)) : vector.s64(i * 16 + 8);
            left -= length;
            Piece piece = isOut ? call.out(index, i + 1) : call.in(index, i + 1);
            if (piece == null || length <= 0) {
                continue;
            }
            out.append(" * ").append(length).append(" bytes in buffer ").append(i).append('\n');
            block(out, piece, length);
        }
    }

    private static void block(StringBuilder out, Piece piece, long length) {
        int shown = (int) Math.min(piece.length(), length);
        for (int at = 0; at < shown; at += 16) {
            String offset = Integer.toHexString(at);
            out.append(" | ").append("00000", 0, Math.max(0, 5 - offset.length())).append(offset);
            out.append(' ');
            for (int i = at; i < at + 16; i++) {
                out.append((i & 7) == 0 ? " " : "");
                out.append(i < shown ? String.format("%02x ", piece.u8(i)) : "   ");
            }
            out.append(' ');
            for (int i = at; i < at + 16; i++) {
                int letter = i < shown ? piece.u8(i) : ' ';
                out.append(letter >= ' ' && letter < 127 ? (char) letter : '.');
            }
            out.append(" |\n");
        }
    }
}
