package sonde.recording.syscall;

import static sonde.recording.syscall.ConstantSet.appendHex;

import sonde.recording.syscall.CallView.Piece;

/** struct perf_event_attr (include/uapi/linux/perf_event.h), the fields that strace shows first. */
final class PerfAttributeText {
    private static final int BITS = 40;
    private static final int FREQUENCY = 10;
    private static final int PRECISE_IP = 15;

    /** Bits of the flags from the first on, before the two of precise_ip. */
    private static final String[] NAMES =
            ("disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle"
                            + " mmap comm freq inherit_stat enable_on_exec task watermark")
                    .split(" ");

    private static final String[] PRECISE = {
        "arbitrary skid", "constant skid", "requested to have 0 skid", "must have 0 skid"
    };

    private PerfAttributeText() {}

    static void append(CallOut out, CallView call, Piece piece) {
        if (piece.length() < 64) {
            out.append("0x").append(Long.toHexString(call.arguments()[0]));
            return;
        }
        int type = piece.s32(0);
        long config = piece.s64(8);
        long bits = piece.s64(BITS);
        out.append("{type=");
        ConstantSet.of("PERF_TYPE").appendEnum(out, type, 32);
        out.append(", size=");
        int size = piece.s32(4);
        if (!ConstantSet.of("PERF_SIZE").appendName(out, size, 32)) {
            appendHex(out, size & 0xffffffffL);
            out.append(" /* PERF_ATTR_SIZE_??? */");
        }
        out.append(", config=");
        if (type == 0 || type == 1) {
            ConstantSet.of(type == 0 ? "PERF_HW" : "PERF_SW").appendEnum(out, config, 64);
        } else {
            appendHex(out, config);
        }
        boolean byFrequency = (bits >>> FREQUENCY & 1) != 0;
        out.append(byFrequency ? ", sample_freq=" : ", sample_period=");
        out.append(Long.toUnsignedString(piece.s64(16))).append(", sample_type=");
        ConstantSet.of("PERF_SAMPLE").appendFlags(out, piece.s64(24), "");
        out.append(", read_format=");
        ConstantSet.of("PERF_FORMAT").appendFlags(out, piece.s64(32), "");
        for (int i = 0; i < NAMES.length; i++) {
            if ((bits >>> i & 1) != 0) {
                out.append(", ").append(NAMES[i]).append("=1");
            }
        }
        int precise = (int) (bits >>> PRECISE_IP & 3);
        out.append(", precise_ip=").append(precise).append(" /* ").append(PRECISE[precise]);
        out.append(" */");
        out.append(", ...}");
    }
}
