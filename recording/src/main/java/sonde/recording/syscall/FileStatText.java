package sonde.recording.syscall;

import static sonde.recording.syscall.ConstantSet.appendHex;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import sonde.recording.syscall.CallView.Piece;

/** struct stat, statx and termios of x86-64. */
final class FileStatText {
    private FileStatText() {}

    static void stat(CallOut out, ArgumentText text, CallView call, Piece piece) {
        int mode = piece.s32(24);
        boolean verbose = call.verbose();
        out.append('{');
        if (verbose) {
            out.append("st_dev=");
            text.device(piece.s64(0));
            out.append(", st_ino=").append(Long.toUnsignedString(piece.s64(8))).append(", ");
        }
        out.append("st_mode=");
        text.mode(mode);
        if (verbose) {
            out.append(", st_nlink=").append(piece.s64(16));
            out.append(", st_uid=").append(piece.s32(28) & 0xffffffffL);
            out.append(", st_gid=").append(piece.s32(32) & 0xffffffffL);
            out.append(", st_blksize=").append(piece.s64(56));
            out.append(", st_blocks=").append(piece.s64(64));
        }
        if ((mode & 0170000) == 0020000 || (mode & 0170000) == 0060000) {
            out.append(", st_rdev=");
            text.device(piece.s64(40));
        } else {
            out.append(", st_size=").append(piece.s64(48));
        }
        if (verbose) {
            String[] names = {"st_atime", "st_mtime", "st_ctime"};
            for (int i = 0; i < 3; i++) {
                long seconds = piece.s64(72 + 16 * i);
                long nanos = piece.s64(80 + 16 * i);
                out.append(", ").append(names[i]).append('=').append(seconds);
                time(out, seconds, nanos);
                out.append(", ").append(names[i]).append("_nsec=").append(nanos);
            }
        }
        out.append(verbose ? "}" : ", ...}");
    }

    static void statx(CallOut out, ArgumentText text, CallView call, Piece piece) {
        out.append("{stx_mask=");
        ConstantSet.of("STATX").appendFlags(out, piece.s32(0) & 0xffffffffL, "");
        boolean verbose = call.verbose();
        if (verbose) {
            out.append(", stx_blksize=").append(piece.s32(4));
        }
        out.append(", stx_attributes=");
        ConstantSet.of("STATX_ATTR").appendFlags(out, piece.s64(8), "");
        if (verbose) {
            out.append(", stx_nlink=").append(piece.s32(16));
            out.append(", stx_uid=").append(piece.s32(20) & 0xffffffffL);
            out.append(", stx_gid=").append(piece.s32(24) & 0xffffffffL);
        }
        out.append(", stx_mode=");
        text.mode(piece.u16(28));
        if (verbose) {
            out.append(", stx_ino=").append(Long.toUnsignedString(piece.s64(32)));
        }
        out.append(", stx_size=").append(piece.s64(40));
        if (verbose) {
            out.append(", stx_blocks=").append(piece.s64(48)).append(", stx_attributes_mask=");
            ConstantSet.of("STATX_ATTR").appendFlags(out, piece.s64(56), "");
            String[] names = {"stx_atime", "stx_btime", "stx_ctime", "stx_mtime"};
            for (int i = 0; i < 4; i++) {
                long seconds = piece.s64(64 + 16 * i);
                long nanos = piece.s32(72 + 16 * i) & 0xffffffffL;
                out.append(", ").append(names[i]).append("={tv_sec=").append(seconds);
                out.append(", tv_nsec=").append(nanos).append('}');
                time(out, seconds, nanos);
            }
            out.append(", stx_rdev_major=").append(piece.s32(128) & 0xffffffffL);
            out.append(", stx_rdev_minor=").append(piece.s32(132) & 0xffffffffL);
            out.append(", stx_dev_major=").append(piece.s32(136) & 0xffffffffL);
            out.append(", stx_dev_minor=").append(piece.s32(140) & 0xffffffffL);
            out.append(", stx_mnt_id=");
            appendHex(out, piece.s64(144));
        }
        out.append(verbose ? "}" : ", ...}");
    }

    /** A remark with the time as people read it. */
    static void time(CallOut out, long seconds, long nanos) {
        if (seconds == 0 && nanos == 0 || seconds < -1L << 40 || seconds > 1L << 40) {
            return;
        }
        DateTimeFormatter format =
                DateTimeFormatter.ofPattern(
                        nanos == 0 ? "yyyy-MM-dd'T'HH:mm:ssZ" : "yyyy-MM-dd'T'HH:mm:ss.nnnnnnnnnZ");
        out.append(" /* ");
        Instant instant = Instant.ofEpochSecond(seconds, nanos);
        out.append(format.format(instant.atZone(ZoneId.systemDefault()))).append(" */");
    }

    /** struct termios of the kernel: four u32 of flags, u8 line, 19 control characters. */
    static void termios(CallOut out, CallView call, Piece piece) {
        int control = piece.s32(8);
        int local = piece.s32(12);
        if (call.verbose()) {
            String[] names = {"c_iflags", "c_oflags", "c_cflags", "c_lflags"};
            for (int i = 0; i < 4; i++) {
                out.append(i == 0 ? "{" : ", ").append(names[i]).append('=');
                appendHex(out, piece.s32(4 * i) & 0xffffffffL);
            }
            out.append(", c_line=").append(piece.u8(16)).append(", c_cc=\"");
            QuotedBytes.appendBare(out, piece.bytes(), piece.offset() + 17, 19, 2);
            out.append("\"}");
            return;
        }
        // CBAUD is 0x100f; the numbers from 0x1001 on are the fast ones.
        String[] speeds =
                ("0 50 75 110 134 150 200 300 600 1200 1800 2400 4800 9600 19200 38400"
                                + " EXTA 57600 115200 230400 460800 500000 576000 921600 1000000"
                                + " 1152000 1500000 2000000 2500000 3000000 3500000 4000000")
                        .split(" ");
        int speed = (control & 0xf) + ((control & 0x1000) != 0 ? 16 : 0);
        out.append("{B").append(speeds[speed]);
        out.append((piece.s32(4) & 1) != 0 ? " opost" : " -opost");
        out.append((local & 1) != 0 ? " isig" : " -isig");
        out.append((local & 2) != 0 ? " icanon" : " -icanon");
        out.append((local & 8) != 0 ? " echo ...}" : " -echo ...}");
    }
}
