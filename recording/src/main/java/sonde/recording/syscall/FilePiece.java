package sonde.recording.syscall;

/**
 * What a descriptor stands for, as a piece of a {@link CallRecord}: the fields below, all
 * little-endian but ports and addresses, then the names of the file and of the folders above it,
 * each with its NUL. A first name that begins with a slash is a whole path.
 */
public final class FilePiece {
    /** u64. */
    public static final int INODE = 0;

    /** u32, of the file. */
    public static final int MODE = 8;

    /** u32 as the kernel has it: 12 bits of the major number, 20 of the minor. */
    public static final int DEVICE = 12;

    /** u64, of the file system. */
    public static final int MAGIC = 16;

    /** u64; 0 for a file without a name. */
    public static final int LINKED = 24;

    /** u16 each. */
    public static final int SOCKET_TYPE = 32;

    public static final int PROTOCOL = 34;
    public static final int FAMILY = 36;

    /** IPv4: of the peer, and its own. */
    public static final int ADDRESSES = 40;

    /** u16 of the peer in network order, and u16 its own in that of the machine. */
    public static final int PORTS = 48;

    /** u32: port of a netlink socket, process of a pidfd. */
    public static final int PORT_ID = 52;

    public static final int PEER_6 = 56;
    public static final int OWN_6 = 72;

    /** 16 bytes that end in NUL, of a namespace its kind. */
    public static final int PROTOCOL_NAME = 88;

    /** u64, AF_UNIX. */
    public static final int PEER_INODE = 104;

    /** u32: bytes of the address, its family among them. */
    public static final int UNIX_LENGTH = 112;

    /** 110 bytes: struct sockaddr_un. */
    public static final int UNIX_NAME = 116;

    /** Bytes before the names. */
    public static final int BYTES = 232;

    /** Part of a piece: the descriptor is the argument itself. */
    public static final int PART = 0x80;

    public static final int PIDFS_MAGIC = 0x50494446;
    public static final int NSFS_MAGIC = 0x6e736673;

    private FilePiece() {}
}
