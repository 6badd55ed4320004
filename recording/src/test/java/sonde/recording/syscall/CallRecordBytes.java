package sonde.recording.syscall;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Writes a captured record byte by byte. */
final class CallRecordBytes {
    private final ByteBuffer out = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);

    CallRecordBytes(int kind, int tid, long nanos, long number, long result, long... arguments) {
        out.putInt(0); // length, put in at the end
        out.put((byte) kind).put((byte) 0).putShort((short) 0);
        out.putLong(nanos);
        out.putInt(tid).putInt(tid);
        out.putLong(number).putLong(result);
        for (int i = 0; i < 6; i++) {
            out.putLong(i < arguments.length ? arguments[i] : 0);
        }
        out.putLong(0x7fff0000L).putLong(0x401000L); // stack and instruction pointer
        out.putLong(0); // lost
    }

    CallRecordBytes piece(int argument, int part, int flags, byte... bytes) {
        out.put((byte) argument).put((byte) part).putShort((short) flags).putInt(bytes.length);
        out.put(bytes);
        while (out.position() % 8 != 0) {
            out.put((byte) 0);
        }
        return this;
    }

    CallRecordBytes text(int argument, String text) {
        return piece(argument, 0, 0, text.getBytes(StandardCharsets.ISO_8859_1));
    }

    CallRecordBytes hex(int argument, String hex) {
        return piece(argument, 0, 0, HexFormat.of().parseHex(hex.replace(" ", "")));
    }

    CallRecordBytes lost(long count) {
        out.putLong(104, count);
        return this;
    }

    CallRecord record() {
        out.putInt(0, out.position());
        byte[] bytes = new byte[out.position()];
        out.get(0, bytes);
        return new CallRecord().at(bytes, 0);
    }
}
