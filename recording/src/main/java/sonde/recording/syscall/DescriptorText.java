package sonde.recording.syscall;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.CallStyle.DescriptorForm;
import sonde.recording.syscall.CallView.Piece;

/** What a descriptor stands for: {@code </etc/passwd>}, {@code <TCP:[127.0.0.1:80]>}. */
final class DescriptorText {
    private static final int AF_UNIX = 1;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int AF_NETLINK = 16;
    private static final int S_IFMT = 0170000;
    private static final int S_IFIFO = 0010000;
    private static final int S_IFCHR = 0020000;
    private static final int S_IFBLK = 0060000;
    private static final int S_IFSOCK = 0140000;
    private static final long PIPEFS_MAGIC = 0x50495045;
    private static final long ANON_INODE_FS_MAGIC = 0x09041934;

    private DescriptorText() {}

    /** Appends it in angle brackets; nothing where it is not known or not wanted. */
    static void append(CallOut out, DescriptorForm form, @Nullable Piece file) {
        if (file == null || !form.needsFile()) {
            return;
        }
        int type = file.s32(FilePiece.MODE) & S_IFMT;
        if (type == S_IFSOCK) {
            out.append('<').append(form.socket() ? socket(file) : inode("socket", file));
            out.append('>');
            return;
        }
        int process = file.s32(FilePiece.PORT_ID);
        boolean isProcess = form.process() && file.s64(FilePiece.MAGIC) == FilePiece.PIDFS_MAGIC;
        String path = isProcess && process > 0 ? "pid:" + process : path(file);
        if (path.isEmpty()) {
            return;
        }
        out.append('<');
        byte[] bytes = path.getBytes(StandardCharsets.ISO_8859_1);
        int start = out.length();
        QuotedBytes.appendBare(out, bytes, 0, bytes.length, 0);
        String quoted = out.substring(start);
        out.setLength(start);
        out.append(quoted.replace("<", "\\74").replace(">", "\\76"));
        if (form.device() && (type == S_IFCHR || type == S_IFBLK)) {
            int device = file.s32(FilePiece.DEVICE);
            out.append(type == S_IFCHR ? "<char " : "<block ").append(device >>> 20);
            out.append(':').append(device & 0xfffff).append('>');
        }
        out.append('>');
        boolean named = path.startsWith("/") && file.s64(FilePiece.LINKED) == 0;
        out.append(named && !path.equals("/") ? "(deleted)" : "");
    }

    private static String inode(String kind, Piece file) {
        return kind + ":[" + Long.toUnsignedString(file.s64(FilePiece.INODE)) + "]";
    }

    /** The path as /proc/PID/fd shows it, or kind and inode of what has none. */
    static String path(Piece file) {
        int type = file.s32(FilePiece.MODE) & S_IFMT;
        long magic = file.s64(FilePiece.MAGIC);
        if (type == S_IFSOCK) {
            return inode("socket", file);
        } else if (type == S_IFIFO && magic == PIPEFS_MAGIC) {
            return inode("pipe", file);
        } else if (magic == FilePiece.PIDFS_MAGIC) {
            return "anon_inode:[pidfd]";
        } else if (magic == FilePiece.NSFS_MAGIC) {
            return inode(file.string(FilePiece.PROTOCOL_NAME, 16), file);
        }
        if (file.length() <= FilePiece.BYTES) {
            return "";
        }
        int from = file.offset() + FilePiece.BYTES;
        int length = file.length() - FilePiece.BYTES;
        String names = new String(file.bytes(), from, length, StandardCharsets.ISO_8859_1);
        StringBuilder path = new StringBuilder();
        for (String name : names.split("\0")) {
            path.insert(0, name).insert(0, name.startsWith("/") ? "" : "/");
        }
        return magic == ANON_INODE_FS_MAGIC ? "anon_inode:" + path.substring(1) : path.toString();
    }

    /** The family of the socket, 0 for what is none. */
    static int family(@Nullable Piece file) {
        boolean known = file != null && file.length() >= FilePiece.BYTES;
        return known && (file.s32(FilePiece.MODE) & S_IFMT) == S_IFSOCK
                ? file.u16(FilePiece.FAMILY)
                : 0;
    }

    private static String socket(Piece file) {
        int family = file.u16(FilePiece.FAMILY);
        String name = file.string(FilePiece.PROTOCOL_NAME, 16);
        StringBuilder text = new StringBuilder(name.isEmpty() ? "socket" : name).append(":[");
        int port = file.u8(FilePiece.PORTS) << 8 | file.u8(FilePiece.PORTS + 1);
        int own = file.u16(FilePiece.PORTS + 2);
        switch (family) {
            case AF_INET, AF_INET6 -> {
                if (own == 0 && port == 0) {
                    text.append(Long.toUnsignedString(file.s64(FilePiece.INODE)));
                } else {
                    boolean six = family == AF_INET6;
                    text.append(address(file, six, true)).append(':').append(own);
                    if (port != 0) {
                        text.append("->").append(address(file, six, false)).append(':');
                        text.append(port);
                    }
                }
            }
            case AF_UNIX -> {
                text.append(Long.toUnsignedString(file.s64(FilePiece.INODE)));
                long peer = file.s64(FilePiece.PEER_INODE);
                text.append(peer == 0 ? "" : "->" + Long.toUnsignedString(peer));
                int length = Math.min(file.s32(FilePiece.UNIX_LENGTH), 110);
                if (length > 2) {
                    text.append(unixName(file, length - 2));
                }
            }
            case AF_NETLINK -> {
                int id = file.s32(FilePiece.PORT_ID);
                CallOut protocol = new CallOut(CallStyle.ConstantForm.ABBREV);
                ConstantSet.of("NETLINK").appendEnum(protocol, file.u16(FilePiece.PROTOCOL), 32);
                String known = protocol.toString().replaceFirst("^NETLINK_", "");
                text.append(
                        id == 0
                                ? Long.toUnsignedString(file.s64(FilePiece.INODE))
                                : known + ":" + Integer.toUnsignedString(id));
            }
            default -> text.append(Long.toUnsignedString(file.s64(FilePiece.INODE)));
        }
        return text.append(']').toString();
    }

    private static String unixName(Piece file, int length) {
        CallOut name = new CallOut(CallStyle.ConstantForm.ABBREV);
        int at = file.offset() + FilePiece.UNIX_NAME + 2;
        boolean hidden = file.bytes()[at] == 0;
        int shown = hidden ? length - 1 : file.string(FilePiece.UNIX_NAME + 2, length).length();
        name.append(hidden ? ",@" : ",");
        QuotedBytes.append(name, file.bytes(), hidden ? at + 1 : at, shown, 0);
        return name.toString();
    }

    private static String address(Piece file, boolean six, boolean own) {
        if (six) {
            return "[" + SocketText.sixteen(file, own ? FilePiece.OWN_6 : FilePiece.PEER_6) + "]";
        }
        int at = FilePiece.ADDRESSES + (own ? 4 : 0);
        return file.u8(at) + "." + file.u8(at + 1) + "." + file.u8(at + 2) + "." + file.u8(at + 3);
    }
}
