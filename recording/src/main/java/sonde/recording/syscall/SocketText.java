package sonde.recording.syscall;

import static sonde.recording.syscall.ConstantSet.appendHex;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.ArgumentShape.PointerTo;
import sonde.recording.syscall.CallView.Piece;
import sonde.sys.Errno;

/** Arguments of socket calls: addresses, options, messages. */
final class SocketText {
    private static final int AF_UNIX = 1;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int AF_NETLINK = 16;
    private static final int SOL_SOCKET = 1;
    private static final int SO_ERROR = 4;
    private static final int SCM_RIGHTS = 1;
    private static final int SCM_CREDENTIALS = 2;

    private final CallOut out;
    private final ArgumentText text;
    private final SpecialText special;

    SocketText(CallOut out, ArgumentText text, SpecialText special) {
        this.out = out;
        this.text = text;
        this.special = special;
    }

    void protocol(int family, int value) {
        switch (family) {
            case AF_INET, AF_INET6 -> ConstantSet.of("IPPROTO").appendEnum(out, value, 32);
            case AF_NETLINK -> ConstantSet.of("NETLINK").appendEnum(out, value, 32);
            default -> appendHex(out, value & 0xffffffffL);
        }
    }

    void option(int level, int value) {
        ConstantSet names = names(level);
        if (names == null) {
            appendHex(out, value & 0xffffffffL);
        } else {
            names.appendEnum(out, value, 32);
        }
    }

    private static @Nullable ConstantSet names(int level) {
        return switch (level) {
            case 0 -> ConstantSet.of("IP");
            case SOL_SOCKET -> ConstantSet.of("SO");
            case 6 -> ConstantSet.of("TCP");
            case 41 -> ConstantSet.of("IPV6");
            default -> null;
        };
    }

    /** {@code [16]}, {@code [128 => 16]}. */
    boolean length(CallView call, int index) {
        Piece before = call.in(index, 0);
        Piece after = call.failed() ? null : call.out(index, 0);
        if (before == null || before.length() < 4) {
            return false;
        }
        out.append('[').append(before.s32(0));
        if (after != null && after.length() >= 4 && after.s32(0) != before.s32(0)) {
            out.append(" => ").append(after.s32(0));
        }
        out.append(']');
        return true;
    }

    /** An address behind a pointer; false for the pointer alone. */
    boolean address(CallView call, PointerTo pointer, Piece piece) {
        long length = text.count(call, Objects.requireNonNull(pointer.count()));
        if (length < 2 || piece.length() < 2) {
            return false;
        }
        address(call, piece.part(0, (int) Math.min(length, piece.length())));
        return true;
    }

    void address(CallView call, Piece piece) {
        int family = piece.u16(0);
        out.append("{sa_family=");
        ConstantSet.of("AF").appendEnum(out, family, 16);
        if (family == AF_UNIX) {
            unixPath(call, piece.part(2, 108));
        } else if (family == AF_INET && piece.length() >= 8) {
            out.append(", sin_port=htons(").append(networkShort(piece, 2));
            out.append("), sin_addr=inet_addr(\"");
            out.append(piece.u8(4)).append('.').append(piece.u8(5)).append('.');
            out.append(piece.u8(6)).append('.').append(piece.u8(7)).append("\")");
        } else if (family == AF_INET6 && piece.length() >= 24) {
            out.append(", sin6_port=htons(").append(networkShort(piece, 2));
            out.append("), sin6_flowinfo=htonl(");
            out.append(Integer.toUnsignedString(Integer.reverseBytes(piece.s32(4))));
            out.append("), inet_pton(AF_INET6, \"")
                    .append(sixteen(piece, 8))
                    .append("\", &sin6_addr)");
            out.append(", sin6_scope_id=");
            out.append(piece.length() >= 28 ? Integer.toUnsignedString(piece.s32(24)) : "0");
        } else if (family == AF_NETLINK && piece.length() >= 12) {
            out.append(", nl_pid=").append(piece.s32(4)).append(", nl_groups=");
            String groups = Integer.toHexString(piece.s32(8));
            out.append("00000000", 0, 8 - groups.length()).append(groups);
        } else if (piece.length() > 2) {
            out.append(", sa_data=");
            QuotedBytes.append(
                    out, piece.bytes(), piece.offset() + 2, piece.length() - 2, call.style().hex());
        }
        out.append('}');
    }

    private static int networkShort(Piece piece, int at) {
        return piece.u8(at) << 8 | piece.u8(at + 1);
    }

    private void unixPath(CallView call, Piece path) {
        if (path.length() == 0) {
            return;
        }
        out.append(", sun_path=");
        if (path.u8(0) == 0) {
            out.append('@');
            QuotedBytes.append(
                    out, path.bytes(), path.offset() + 1, path.length() - 1, call.style().hex());
        } else {
            special.text(call, path, Integer.MAX_VALUE);
        }
    }

    /** The address with the longest run of zeros left out, as inet_ntop(3) writes it. */
    static String sixteen(Piece piece, int at) {
        int from = piece.offset() + at;
        byte[] address = Arrays.copyOfRange(piece.bytes(), from, from + 16);
        int best = -1;
        int length = 1;
        for (int i = 0; i < 8; i++) {
            int run = 0;
            while (i + run < 8 && address[2 * (i + run)] == 0 && address[2 * (i + run) + 1] == 0) {
                run++;
            }
            if (run > length) {
                best = i;
                length = run;
            }
            i += run;
        }
        boolean mapped =
                best == 0 && (length == 6 || length == 5 && address[10] == -1 && address[11] == -1);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 8; i++) {
            if (i == best) {
                text.append(i == 0 ? "::" : ":");
                i += length - 1;
            } else if (mapped && i == 6) {
                return text.append(four(address)).toString();
            } else {
                int group = (address[2 * i] & 0xff) << 8 | address[2 * i + 1] & 0xff;
                text.append(Integer.toHexString(group)).append(i < 7 ? ":" : "");
            }
        }
        return text.toString();
    }

    private static String four(byte[] sixteen) {
        try {
            return InetAddress.getByAddress(Arrays.copyOfRange(sixteen, 12, 16)).getHostAddress();
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an address", e);
        }
    }

    /** The value of a socket option; false for the address alone. */
    boolean value(CallView call, PointerTo pointer, Piece piece) {
        long length = text.count(call, Objects.requireNonNull(pointer.count()));
        int level = (int) call.arguments()[1];
        int name = (int) call.arguments()[2];
        int size = (int) Math.min(length, piece.length());
        boolean isTime = name == 20 || name == 21 || name == 66 || name == 67;
        if (level == SOL_SOCKET && isTime && size >= 16) {
            out.append("{tv_sec=").append(piece.s64(0));
            out.append(", tv_usec=").append(piece.s64(8)).append('}');
        } else if (level == SOL_SOCKET && name == 13 && size >= 8) {
            out.append("{l_onoff=").append(piece.s32(0));
            out.append(", l_linger=").append(piece.s32(4)).append('}');
        } else if (level == SOL_SOCKET && name == 17 && size >= 12) {
            out.append("{pid=").append(piece.s32(0)).append(", uid=");
            out.append(piece.s32(4) & 0xffffffffL).append(", gid=");
            out.append(piece.s32(8) & 0xffffffffL).append('}');
        } else if (level == SOL_SOCKET && name == SO_ERROR && size == 4 && piece.s32(0) != 0) {
            out.append('[').append(Errno.name(piece.s32(0))).append(']');
        } else if (size == 4 && names(level) != null) {
            out.append('[').append(piece.s32(0)).append(']');
        } else {
            special.bytes(call, piece.part(0, size), length, call.style().hex());
        }
        return true;
    }

    /** struct msghdr: name, its length, vector, its length, control, its length, flags. */
    void message(CallView call, int index, Piece header, boolean isOut) {
        Piece name = isOut ? call.out(index, 1) : call.in(index, 1);
        out.append("{msg_name=");
        int nameLength = header.s32(8);
        if (header.s64(0) == 0 || name == null || nameLength < 2) {
            text.address(header.s64(0));
        } else {
            address(call, name.part(0, nameLength));
        }
        Piece before = isOut ? call.in(index, 0) : null;
        boolean changed = before != null && before.length() >= 12 && before.s32(8) != nameLength;
        out.append(", msg_namelen=");
        if (changed && before != null) {
            out.append(before.s32(8)).append(" => ");
        }
        out.append(nameLength).append(", msg_iov=");
        Piece vector = isOut ? call.out(index, 3) : call.in(index, 3);
        if (header.s64(16) == 0 || vector == null) {
            text.address(header.s64(16));
        } else {
            special.vector(call, index, vector, 3, isOut);
        }
        out.append(", msg_iovlen=").append(Long.toUnsignedString(header.s64(24)));
        Piece control = isOut ? call.out(index, 2) : call.in(index, 2);
        long controlLength = header.s64(40);
        if (controlLength != 0) {
            out.append(", msg_control=");
            if (control == null) {
                text.address(header.s64(32));
            } else {
                control(call, control.part(0, (int) Math.min(controlLength, control.length())));
            }
        }
        out.append(", msg_controllen=").append(controlLength).append(", msg_flags=");
        ConstantSet.of("MSG").appendFlags(out, header.s32(48) & 0xffffffffL, "");
        out.append('}');
    }

    /** Control messages: u64 length with the header, s32 level, s32 type, data, padded to 8. */
    private void control(CallView call, Piece all) {
        out.append('[');
        int at = 0;
        while (at + 16 <= all.length()) {
            long length = all.s64(at);
            int level = all.s32(at + 8);
            int type = all.s32(at + 12);
            out.append(at == 0 ? "{cmsg_len=" : ", {cmsg_len=").append(length);
            out.append(", cmsg_level=");
            ConstantSet.of("SOL").appendEnum(out, level, 32);
            out.append(", cmsg_type=");
            if (level == SOL_SOCKET) {
                ConstantSet.of("SCM").appendEnum(out, type, 32);
            } else {
                option(level, type);
            }
            int data = (int) Math.min(Math.max(0, length - 16), all.length() - at - 16);
            if (data > 0) {
                out.append(", cmsg_data=");
                data(call, all.part(at + 16, data), level == SOL_SOCKET ? type : 0);
            }
            out.append('}');
            if (length < 16) {
                break;
            }
            at += (int) Math.min(length + 7 & ~7L, all.length());
        }
        out.append(']');
    }

    private void data(CallView call, Piece data, int type) {
        if (type == SCM_RIGHTS) {
            out.append('[');
            for (int at = 0; at + 4 <= data.length(); at += 4) {
                out.append(at == 0 ? "" : ", ");
                text.descriptor(call, data.s32(at));
            }
            out.append(']');
        } else if (type == SCM_CREDENTIALS && data.length() >= 12) {
            out.append("{pid=").append(data.s32(0)).append(", uid=").append(data.s32(4));
            out.append(", gid=").append(data.s32(8)).append('}');
        } else {
            QuotedBytes.append(out, data.bytes(), data.offset(), data.length(), 2);
        }
    }
}
