package sonde.probe.syscall;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R5;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.FilePiece;
import sonde.sys.Errno;

/**
 * The part of the programs that appends what a descriptor of the current thread stands for, as a
 * {@link FilePiece}: the kernel's own structs say it, so it is true at the instant of the call.
 */
final class FileCode {
    private static final String[] MEMBERS = {
        "task_struct.files",
        "task_struct.fs",
        "fs_struct.pwd",
        "files_struct.fdt",
        "fdtable.max_fds",
        "fdtable.fd",
        "file.f_inode",
        "file.f_path",
        "file.private_data",
        "path.mnt",
        "path.dentry",
        "inode.i_ino",
        "inode.i_mode",
        "inode.i_rdev",
        "inode.i_sb",
        "super_block.s_magic",
        "dentry.d_parent",
        "dentry.d_name",
        "dentry.d_hash",
        "qstr.name",
        "hlist_bl_node.pprev",
        "mount.mnt",
        "mount.mnt_parent",
        "mount.mnt_mountpoint",
        "vfsmount.mnt_root",
        "socket.type",
        "socket.sk",
        "sock.__sk_common",
        "sock.sk_protocol",
        "sock.sk_socket",
        "sock_common.skc_daddr",
        "sock_common.skc_dport",
        "sock_common.skc_family",
        "sock_common.skc_prot",
        "sock_common.skc_v6_daddr",
        "sock_common.skc_v6_rcv_saddr",
        "proto.name",
        "unix_sock.peer",
        "unix_sock.addr",
        "unix_address.len",
        "unix_address.name",
        "netlink_sock.portid",
        "socket_alloc.vfs_inode",
        "inode.i_private",
        "pid.numbers",
        "upid.nr",
        "ns_common.ops",
        "proc_ns_operations.name",
    };

    private static final int AT_FDCWD = -100;
    private static final int S_IFMT = 0170000;
    private static final int S_IFSOCK = 0140000;
    private static final int AF_UNIX = 1;
    private static final int AF_NETLINK = 16;

    /** Folders and mounts above a file that are followed. */
    private static final int MOST_PARENTS = 128;

    private static final int NAME_BYTES = 256;

    /** A name may begin there at most. */
    private static final int LAST_NAME = 0xfe00;

    // The stack: the piece's place, pointers, and the block of the walk.
    private static final int PIECE = -8;
    private static final int FIRST = -16;
    private static final int SECOND = -24;
    private static final int BLOCK = -56;
    private static final int DENTRY = 8;
    private static final int MOUNT = 16;
    private static final int POSITION = 24;

    private final CodeBuilder code;
    private final Map<String, Integer> fields;
    private final Label walk;

    /**
     * Of a program.
     *
     * @param walk where {@link #parent} will be
     */
    FileCode(CodeBuilder code, Map<String, Integer> fields, Label walk) {
        this.code = code;
        this.fields = fields;
        this.walk = walk;
    }

    /** Offsets of the kernel's structs; empty where this kernel lacks one of them. */
    static Map<String, Integer> fields(Btf btf) throws IOException {
        Map<String, Integer> found = new HashMap<>();
        for (String name : MEMBERS) {
            int dot = name.indexOf('.');
            Optional<BtfType.Struct> struct = btf.struct(name.substring(0, dot));
            Optional<BtfType.Member> member =
                    struct.isEmpty()
                            ? Optional.empty()
                            : btf.member(struct.get(), name.substring(dot + 1));
            if (member.isPresent()) {
                found.put(name, member.get().bitOffset() / 8);
            }
        }
        return found;
    }

    private int field(String name) {
        Integer offset = fields.get(name);
        if (offset == null) {
            throw new MissingField(name);
        }
        return offset;
    }

    /** A member that this kernel does not have. */
    static final class MissingField extends RuntimeException {
        private static final long serialVersionUID = 1;

        MissingField(String name) {
            super(name);
        }

        BpfRefusedException refusal() {
            return new BpfRefusedException(
                    "struct member " + getMessage(),
                    Errno.ENOENT,
                    "this kernel has none",
                    "leave out -y and -P");
        }
    }

    /**
     * The reader: R6 is the record, R7 the descriptor, R8 0 where the path is not wanted, and the
     * piece is at {@link #PIECE}. At {@code close} R8 is the length of the piece.
     */
    void reader(Label fail, Label close) {
        Label folder = new Label("folder");
        Label noSocket = new Label("no socket");
        Label names = new Label("names");
        code.step("a file").load(Width.U64, R1, R10, PIECE);
        for (int at = 0; at < FilePiece.BYTES; at += 8) {
            code.store(Width.U64, R1, 8 + at, 0);
        }
        code.call(HelperFunctionId.GET_CURRENT_TASK)
                .store(Width.U64, R10, FIRST, R0)
                .compute32(AluOperation.MOVE, R7, R7)
                .move(R1, AT_FDCWD)
                .compute32(AluOperation.MOVE, R1, R1)
                .branch(JumpCondition.EQUAL, R7, R1, folder);
        pointer(FIRST, FIRST, field("task_struct.files"), fail);
        pointer(FIRST, FIRST, field("files_struct.fdt"), fail);
        pointer(SECOND, FIRST, field("fdtable.max_fds"), fail);
        code.load(Width.U32, R1, R10, SECOND).branch(JumpCondition.GREATER_OR_EQUAL, R7, R1, fail);
        pointer(FIRST, FIRST, field("fdtable.fd"), fail);
        code.load(Width.U64, R1, R10, FIRST)
                .shiftLeft(R7, 3)
                .add(R1, R7)
                .store(Width.U64, R10, FIRST, R1);
        pointer(FIRST, FIRST, 0, fail);
        pointer(SECOND, FIRST, field("file.f_inode"), fail);
        copy(FilePiece.INODE, SECOND, field("inode.i_ino"), 8);
        copy(FilePiece.MODE, SECOND, field("inode.i_mode"), 2);
        copy(FilePiece.DEVICE, SECOND, field("inode.i_rdev"), 4);
        pointer(SECOND, SECOND, field("inode.i_sb"), fail);
        copy(FilePiece.MAGIC, SECOND, field("super_block.s_magic"), 8);
        code.load(Width.U64, R1, R10, PIECE)
                .load(Width.U16, R1, R1, 8 + FilePiece.MODE)
                .and(R1, S_IFMT)
                .branch(JumpCondition.NOT_EQUAL, R1, S_IFSOCK, noSocket);
        socket(names);
        code.at(noSocket);
        special();
        int path = field("file.f_path");
        pointer(BLOCK + MOUNT, FIRST, path + field("path.mnt"), fail);
        pointer(BLOCK + DENTRY, FIRST, path + field("path.dentry"), fail);
        code.jump(names).at(folder);
        pointer(FIRST, FIRST, field("task_struct.fs"), fail);
        int directory = field("fs_struct.pwd");
        pointer(BLOCK + MOUNT, FIRST, directory + field("path.mnt"), fail);
        pointer(BLOCK + DENTRY, FIRST, directory + field("path.dentry"), fail);
        code.at(names);
        names(close);
    }

    /** The number of a pidfd's process, the kind of a namespace. */
    private void special() {
        Label process = new Label("pidfd");
        Label plain = new Label("plain file");
        code.load(Width.U64, R1, R10, PIECE)
                .load(Width.U32, R1, R1, 8 + FilePiece.MAGIC)
                .branch(JumpCondition.EQUAL, R1, FilePiece.PIDFS_MAGIC, process)
                .branch(JumpCondition.NOT_EQUAL, R1, FilePiece.NSFS_MAGIC, plain);
        pointer(SECOND, FIRST, field("file.f_inode"), plain);
        pointer(SECOND, SECOND, field("inode.i_private"), plain);
        if (fields.containsKey("ns_common.ops")) {
            pointer(SECOND, SECOND, field("ns_common.ops"), plain);
            pointer(SECOND, SECOND, field("proc_ns_operations.name"), plain);
            copy(FilePiece.PROTOCOL_NAME, SECOND, 0, 15);
        }
        code.jump(plain).at(process);
        pointer(SECOND, FIRST, field("file.f_inode"), plain);
        pointer(SECOND, SECOND, field("inode.i_private"), plain);
        copy(FilePiece.PORT_ID, SECOND, field("pid.numbers") + field("upid.nr"), 4);
        code.at(plain);
    }

    /** Follows the folders above, where a path is wanted and the file is no socket. */
    private void names(Label close) {
        Label done = new Label("no path");
        code.ifZero(R8, done).load(Width.U64, R1, R10, BLOCK + DENTRY).ifZero(R1, done);
        copy(
                FilePiece.LINKED,
                BLOCK + DENTRY,
                field("dentry.d_hash") + field("hlist_bl_node.pprev"),
                8);
        code.load(Width.U64, R1, R10, BLOCK + MOUNT)
                .add(R1, -field("mount.mnt"))
                .store(Width.U64, R10, BLOCK + MOUNT, R1)
                .store(Width.U64, R10, BLOCK, R6)
                .load(Width.U32, R1, R6, CallRecord.LENGTH)
                .add(R1, 8 + FilePiece.BYTES)
                .store(Width.U64, R10, BLOCK + POSITION, R1)
                .move(R1, MOST_PARENTS)
                .function(R2, walk)
                .move(R3, R10)
                .add(R3, BLOCK)
                .move(R4, 0)
                .call(HelperFunctionId.LOOP)
                .load(Width.U64, R8, R10, BLOCK + POSITION)
                .load(Width.U32, R1, R6, CallRecord.LENGTH)
                .compute(AluOperation.SUBTRACT, R8, R1)
                .add(R8, -8)
                .and(R8, 0xffff)
                .jump(close)
                .at(done)
                .move(R8, FilePiece.BYTES)
                .jump(close);
    }

    /** {@code *to = *(*from + offset)}, 8 bytes; goes on at {@code fail} for 0. */
    private void pointer(int to, int from, int offset, Label fail) {
        read(to, from, offset, 8);
        code.ifNotZero(R0, fail).load(Width.U64, R1, R10, to).ifZero(R1, fail);
    }

    private void read(int to, int from, int offset, int bytes) {
        code.load(Width.U64, R3, R10, from)
                .add(R3, offset)
                .move(R1, R10)
                .add(R1, to)
                .move(R2, bytes)
                .call(HelperFunctionId.PROBE_READ_KERNEL);
    }

    /** Copies into the piece. */
    private void copy(int to, int from, int offset, int bytes) {
        code.load(Width.U64, R3, R10, from)
                .add(R3, offset)
                .load(Width.U64, R1, R10, PIECE)
                .add(R1, 8 + to)
                .move(R2, bytes)
                .call(HelperFunctionId.PROBE_READ_KERNEL);
    }

    /** The socket of the file at {@link #FIRST}. */
    private void socket(Label names) {
        Label unix = new Label("unix");
        Label plain = new Label("socket");
        pointer(SECOND, FIRST, field("file.private_data"), plain);
        copy(FilePiece.SOCKET_TYPE, SECOND, field("socket.type"), 2);
        pointer(SECOND, SECOND, field("socket.sk"), plain);
        int common = field("sock.__sk_common");
        copy(FilePiece.PROTOCOL, SECOND, field("sock.sk_protocol"), 2);
        copy(FilePiece.FAMILY, SECOND, common + field("sock_common.skc_family"), 2);
        copy(FilePiece.ADDRESSES, SECOND, common + field("sock_common.skc_daddr"), 8);
        copy(FilePiece.PORTS, SECOND, common + field("sock_common.skc_dport"), 4);
        if (fields.containsKey("sock_common.skc_v6_daddr")) {
            copy(FilePiece.PEER_6, SECOND, common + field("sock_common.skc_v6_daddr"), 16);
            copy(FilePiece.OWN_6, SECOND, common + field("sock_common.skc_v6_rcv_saddr"), 16);
        }
        pointer(FIRST, SECOND, common + field("sock_common.skc_prot"), plain);
        copy(FilePiece.PROTOCOL_NAME, FIRST, field("proto.name"), 16);
        code.load(Width.U64, R1, R10, PIECE)
                .load(Width.U16, R1, R1, 8 + FilePiece.FAMILY)
                .branch(JumpCondition.EQUAL, R1, AF_UNIX, unix)
                .branch(JumpCondition.NOT_EQUAL, R1, AF_NETLINK, plain);
        if (fields.containsKey("netlink_sock.portid")) {
            copy(FilePiece.PORT_ID, SECOND, field("netlink_sock.portid"), 4);
        }
        code.jump(plain).at(unix);
        if (fields.containsKey("unix_sock.peer")) {
            unix(plain);
        }
        code.at(plain).move(R1, 0).store(Width.U64, R10, BLOCK + DENTRY, R1).jump(names);
    }

    /** Inode of the peer and the bound name of the AF_UNIX socket at {@link #SECOND}. */
    private void unix(Label plain) {
        Label alone = new Label("no peer");
        pointer(FIRST, SECOND, field("unix_sock.peer"), alone);
        pointer(FIRST, FIRST, field("sock.sk_socket"), alone);
        copy(
                FilePiece.PEER_INODE,
                FIRST,
                field("socket_alloc.vfs_inode") + field("inode.i_ino"),
                8);
        code.at(alone);
        pointer(FIRST, SECOND, field("unix_sock.addr"), plain);
        copy(FilePiece.UNIX_LENGTH, FIRST, field("unix_address.len"), 4);
        copy(FilePiece.UNIX_NAME, FIRST, field("unix_address.name"), 110);
    }

    /** The callback of the walk: R2 is the block. 1 ends it. */
    void parent() {
        Label below = new Label("below the mount");
        Label end = new Label("end of the path");
        Label last = new Label("last name");
        Label name = new Label("name");
        code.step("a folder above").move(R7, R2);
        blockPointer(R8, MOUNT, field("mount.mnt") + field("vfsmount.mnt_root"), end);
        code.load(Width.U64, R1, R7, DENTRY)
                .branch(JumpCondition.NOT_EQUAL, R1, R8, below)
                .step("the mount's own place");
        blockPointer(R8, MOUNT, field("mount.mnt_parent"), end);
        code.load(Width.U64, R1, R7, MOUNT).branch(JumpCondition.EQUAL, R1, R8, end);
        blockPointer(R6, MOUNT, field("mount.mnt_mountpoint"), end);
        code.store(Width.U64, R7, DENTRY, R6).store(Width.U64, R7, MOUNT, R8).exit(0).at(below);
        blockPointer(R8, DENTRY, field("dentry.d_name") + field("qstr.name"), end);
        code.load(Width.U64, R6, R7, 0)
                .load(Width.U64, R1, R7, POSITION)
                .branch(JumpCondition.GREATER, R1, LAST_NAME, end)
                .add(R1, R6)
                .move(R2, NAME_BYTES)
                .move(R3, R8)
                .call(HelperFunctionId.PROBE_READ_KERNEL_STR)
                .branch(JumpCondition.SIGNED_LESS_OR_EQUAL, R0, 0, end)
                .load(Width.U64, R1, R7, POSITION)
                .add(R1, R0)
                .store(Width.U64, R7, POSITION, R1);
        blockPointer(R8, DENTRY, field("dentry.d_parent"), last);
        code.load(Width.U64, R1, R7, DENTRY)
                .branch(JumpCondition.EQUAL, R1, R8, last)
                .store(Width.U64, R7, DENTRY, R8)
                .at(name)
                .exit(0)
                .at(last)
                .exit(1)
                .at(end)
                .exit(1);
    }

    private void blockPointer(BpfRegister to, int from, int offset, Label fail) {
        code.load(Width.U64, R3, R7, from)
                .add(R3, offset)
                .move(R1, R10)
                .add(R1, PIECE)
                .move(R2, 8)
                .call(HelperFunctionId.PROBE_READ_KERNEL)
                .ifNotZero(R0, fail)
                .load(Width.U64, to, R10, PIECE);
        code.move(R5, to).ifZero(R5, fail);
    }
}
