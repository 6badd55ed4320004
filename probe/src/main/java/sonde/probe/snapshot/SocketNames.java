package sonde.probe.snapshot;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import sonde.recording.names.NamedCall;
import sonde.sys.FileCalls;
import sonde.sys.Netlink;
import sonde.sys.SyscallException;

/** The sockets of a network namespace by inode: /proc/PID/net, and sock_diag(7) for peers. */
public final class SocketNames {
    private static final int MOST_BYTES = 8 << 20;
    private static final int NETLINK_SOCK_DIAG = 4;
    private static final int SOCK_DIAG_BY_FAMILY = 20;
    private static final int AF_UNIX = 1;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;

    // include/uapi/linux/unix_diag.h
    private static final int UDIAG_SHOW_PEER = 4;
    private static final int UNIX_DIAG_PEER = 2;
    private static final int UNIX_MESSAGE_BYTES = 16;

    /** include/net/tcp_states.h, as ss(8) writes them. */
    private static final String[] STATES = {
        "",
        "",
        "connecting",
        "",
        "closing",
        "closing",
        "closing",
        "closed",
        "closed by the peer",
        "closing",
        "listening",
        "closing",
        "connecting"
    };

    private static final int LISTENING = 10;

    /** Begin of IPv4 addresses in IPv6's: ::ffff:0:0/96, in words of the machine's order. */
    private static final String MAPPED =
            "0".repeat(16)
                    + (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
                            ? "FFFF0000"
                            : "0000FFFF");

    private final Map<Long, SocketEnd> byInode = new HashMap<>();
    private final Map<String, Long> byAddresses = new HashMap<>();

    /** Those without a peer, by protocol and own address. */
    private final Map<String, Long> open = new HashMap<>();

    /**
     * A socket.
     *
     * @param name "tcp 127.0.0.1:40000 → 127.0.0.1:80"
     * @param peer "127.0.0.1:80", "at 0.0.0.0:80" of one that listens, "unix:/run/x"; empty when it
     *     has none
     * @param peerInode of the socket at the other end where it is on this machine, 0 else
     */
    record SocketEnd(String name, String peer, long peerInode) {}

    /** Reads those of the namespace in which a process is. */
    public SocketNames(int pid) {
        for (String kind : new String[] {"tcp", "tcp6", "udp", "udp6"}) {
            String text = text(pid, kind);
            text.lines().skip(1).forEach(line -> internet(kind, line));
        }
        Map<Long, Long> peers = unixPeers();
        text(pid, "unix").lines().skip(1).forEach(line -> unix(line, peers));
        text(pid, "netlink").lines().skip(1).forEach(SocketNames.this::netlink);
        // The name of a connected client is that of its server.
        for (Map.Entry<Long, Long> pair : peers.entrySet()) {
            SocketEnd own = byInode.get(pair.getKey());
            SocketEnd peer = byInode.get(pair.getValue());
            if (own != null && own.name.equals("unix socket") && peer != null) {
                byInode.put(pair.getKey(), new SocketEnd(peer.name, peer.peer, own.peerInode));
            }
        }
    }

    private static String text(int pid, String name) {
        try {
            byte[] bytes = FileCalls.readAll("/proc/" + pid + "/net/" + name, MOST_BYTES);
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            return "";
        }
    }

    /** The socket of an inode; its kind is all that is known of others. */
    SocketEnd of(long inode) {
        SocketEnd found = byInode.get(inode);
        if (found == null) {
            return new SocketEnd("socket", "", 0);
        }
        return found.peerInode >= 0
                ? found
                : new SocketEnd(
                        found.name, found.peer, byAddresses.getOrDefault(mirrored(found.name), 0L));
    }

    /** The address at the other end, "at " its own where it has none; empty when neither is. */
    public String peer(long inode) {
        return of(inode).peer;
    }

    /**
     * The socket of this machine that serves one: at its other end, or where that was not accepted
     * yet or has no connections, the one that listens at the address; 0 for none.
     */
    long server(long inode) {
        SocketEnd own = of(inode);
        String[] words = own.name.split(" ");
        if (own.peerInode > 0 || words.length < 4) {
            return Math.max(0, own.peerInode);
        }
        String port = words[3].substring(words[3].lastIndexOf(':'));
        boolean local = words[3].startsWith("127.") || words[3].startsWith("[::1]");
        return Stream.of(words[3], local ? "0.0.0.0" + port : "", local ? "[::]" + port : "")
                .map(address -> open.getOrDefault(words[0] + " " + address, 0L))
                .filter(found -> found > 0)
                .findFirst()
                .orElse(0L);
    }

    /** "tcp A → B" seen from the other end. */
    private static String mirrored(String name) {
        String[] words = name.split(" ");
        return words.length < 4 ? "" : words[0] + " " + words[3] + " " + words[1];
    }

    /** sl local rem st tx:rx tr:when retrnsmt uid timeout inode: proc(5), proc_net. */
    private void internet(String kind, String line) {
        String[] fields = line.strip().split("\\s+");
        if (fields.length < 10) {
            return;
        }
        try {
            String protocol = kind.startsWith("tcp") ? "tcp" : "udp";
            String local = address(fields[1]);
            String remote = address(fields[2]);
            int state = Integer.parseInt(fields[3], 16);
            long inode = Long.parseLong(fields[9]);
            boolean isOpen = remote.endsWith(":0");
            String word = protocol.equals("tcp") && state < STATES.length ? STATES[state] : "";
            String name;
            if (state == LISTENING && protocol.equals("tcp")) {
                name = "tcp " + local + " (listening)";
            } else if (isOpen) {
                name = protocol + " " + local;
            } else {
                name = protocol + " " + local + " → " + remote;
                byAddresses.put(protocol + " " + local + " " + remote, inode);
                name += word.isEmpty() ? "" : " (" + word + ")";
            }
            if (isOpen) {
                open.put(protocol + " " + local, inode);
            }
            byInode.put(
                    inode, new SocketEnd(name, isOpen ? "at " + local : remote, isOpen ? 0 : -1));
        } catch (NumberFormatException e) {
            // a line of another kernel
        }
    }

    /** Address and port as hexadecimal words of the machine's order. */
    private static String address(String text) {
        int colon = text.indexOf(':');
        int words = colon / 8;
        boolean wide = words == 4;
        if (wide && text.startsWith(MAPPED)) {
            return address(text.substring(MAPPED.length()));
        }
        ByteBuffer sockaddr = ByteBuffer.allocate(wide ? 28 : 16).order(ByteOrder.nativeOrder());
        sockaddr.putShort(0, (short) (wide ? AF_INET6 : AF_INET));
        for (int i = 0; i < words; i++) {
            int word = Integer.parseUnsignedInt(text.substring(8 * i, 8 * i + 8), 16);
            sockaddr.putInt((wide ? 8 : 4) + 4 * i, word);
        }
        int port = Integer.parseInt(text.substring(colon + 1), 16);
        sockaddr.put(2, (byte) (port >> 8)).put(3, (byte) port);
        return NamedCall.address(sockaddr.array());
    }

    /** Num RefCount Protocol Flags Type St Inode Path. */
    private void unix(String line, Map<Long, Long> peers) {
        String[] fields = line.strip().split("\\s+", 8);
        if (fields.length < 7 || !fields[6].matches("\\d{1,18}")) {
            return;
        }
        long inode = Long.parseLong(fields[6]);
        boolean listens = fields[3].equals("00010000"); // __SO_ACCEPTCON
        boolean named = fields.length > 7;
        String name = named ? "unix " + fields[7] : "unix socket";
        byInode.put(
                inode,
                new SocketEnd(
                        listens ? name + " (listening)" : name,
                        named ? "unix:" + fields[7] : "",
                        peers.getOrDefault(inode, 0L)));
    }

    private void netlink(String line) {
        String[] fields = line.strip().split("\\s+");
        String last = fields[fields.length - 1];
        if (last.matches("\\d{1,18}")) {
            byInode.put(Long.parseLong(last), new SocketEnd("netlink socket", "netlink", 0));
        }
    }

    /** Peers of the UNIX sockets of this process's namespace, both ways. */
    private static Map<Long, Long> unixPeers() {
        Map<Long, Long> peers = new HashMap<>();
        // struct unix_diag_req: family, protocol, pad, states, inode, show, cookie[2].
        ByteBuffer request = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder());
        request.put(0, (byte) AF_UNIX).putInt(4, -1).putInt(12, UDIAG_SHOW_PEER);
        try {
            byte[] body = request.array();
            for (byte[] one : Netlink.dump(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, body)) {
                byte[] peer = Netlink.attributes(one, UNIX_MESSAGE_BYTES).get(UNIX_DIAG_PEER);
                if (one.length >= UNIX_MESSAGE_BYTES && peer != null && peer.length >= 4) {
                    peers.put(word(one, 4), word(peer, 0));
                }
            }
        } catch (SyscallException e) {
            return peers; // a kernel without CONFIG_UNIX_DIAG
        }
        return peers;
    }

    private static long word(byte[] bytes, int at) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        return Integer.toUnsignedLong(buffer.getInt(at));
    }
}
