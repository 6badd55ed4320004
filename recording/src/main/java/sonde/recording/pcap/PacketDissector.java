package sonde.recording.pcap;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import sonde.event.Field;
import sonde.recording.BatchWriter;

/**
 * What the headers of a packet say, as far as they were captured: link layer, VLAN tags, IPv4 and
 * IPv6 with options and extension headers, TCP, UDP, ICMP, DNS. A header that is cut or wrong ends
 * the walk; the fields before it stay.
 */
final class PacketDissector {
    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    // www.tcpdump.org/linktypes.html
    static final int LINKTYPE_NULL = 0;
    static final int LINKTYPE_ETHERNET = 1;
    private static final int LINKTYPE_RAW = 101;
    private static final int LINKTYPE_LOOP = 108;
    private static final int LINKTYPE_LINUX_SLL = 113;
    private static final int LINKTYPE_IPV4 = 228;
    private static final int LINKTYPE_IPV6 = 229;
    private static final int LINKTYPE_LINUX_SLL2 = 276;

    private static final int ETHERTYPE_IP = 0x0800;
    private static final int ETHERTYPE_ARP = 0x0806;
    private static final int ETHERTYPE_IPV6 = 0x86dd;
    private static final int MOST_TAGS = 8;
    private static final int MOST_EXTENSIONS = 16;

    private static final int IPPROTO_ICMP = 1;
    private static final int IPPROTO_TCP = 6;
    private static final int IPPROTO_UDP = 17;
    private static final int IPPROTO_FRAGMENT = 44;
    private static final int IPPROTO_AH = 51;
    private static final int IPPROTO_ICMPV6 = 58;

    private static final String[] TCP_FLAGS = {
        "FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"
    };

    private static final Field SRC_MAC = PacketTypes.field("src_mac");
    private static final Field DST_MAC = PacketTypes.field("dst_mac");
    private static final Field VLAN = PacketTypes.field("vlan");
    private static final Field ETHER_TYPE = PacketTypes.field("ether_type");
    private static final Field SRC = PacketTypes.field("src");
    private static final Field DST = PacketTypes.field("dst");
    private static final Field PROTOCOL = PacketTypes.field("protocol");
    private static final Field SPORT = PacketTypes.field("sport");
    private static final Field DPORT = PacketTypes.field("dport");
    private static final Field FLAGS = PacketTypes.field("flags");
    private static final Field SEQ = PacketTypes.field("seq");
    private static final Field ACK = PacketTypes.field("ack");
    private static final Field WINDOW = PacketTypes.field("window");
    private static final Field PAYLOAD = PacketTypes.field("payload");
    private static final Field TTL = PacketTypes.field("ttl");
    private static final Field IP_ID = PacketTypes.field("ip_id");
    private static final Field FRAGMENT = PacketTypes.field("fragment");
    private static final Field ICMP_TYPE = PacketTypes.field("icmp_type");
    private static final Field ICMP_CODE = PacketTypes.field("icmp_code");

    private final MemorySegment data;
    private final BatchWriter out;
    private final int end;
    private final int wireBytes;

    /**
     * A walk over one packet into the row that was begun.
     *
     * @param wireBytes of the packet as it was sent; what was captured may be less
     */
    PacketDissector(MemorySegment data, int wireBytes, BatchWriter out) {
        this.data = data;
        this.end = (int) data.byteSize();
        this.wireBytes = wireBytes;
        this.out = out;
        out.integer(VLAN, -1);
        out.integer(ICMP_TYPE, -1);
        out.integer(ICMP_CODE, -1);
        out.integer(PacketTypes.field("dns_id"), -1);
        out.integer(PacketTypes.field("dns_rcode"), -1);
    }

    private boolean has(int at, int count) {
        return at >= 0 && count <= end - at;
    }

    private int u8(int at) {
        return data.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    private int u16(int at) {
        return data.get(U16, at) & 0xffff;
    }

    private int u32(int at) {
        return data.get(U32, at);
    }

    /** Walks from the link layer on. */
    void link(int linkType, ByteOrder order) {
        switch (linkType) {
            case LINKTYPE_ETHERNET -> ethernet();
            case LINKTYPE_NULL, LINKTYPE_LOOP -> family(linkType, order);
            case LINKTYPE_LINUX_SLL -> {
                if (has(0, 16)) {
                    mac(SRC_MAC, 6, u16(4));
                    network(u16(14), 16);
                }
            }
            case LINKTYPE_LINUX_SLL2 -> {
                if (has(0, 20)) {
                    mac(SRC_MAC, 12, u8(11));
                    network(u16(0), 20);
                }
            }
            // 12 and 14 are what DLT_RAW is on some systems
            case LINKTYPE_RAW, LINKTYPE_IPV4, LINKTYPE_IPV6, 12, 14 -> version(0);
            default -> {}
        }
    }

    private void ethernet() {
        if (has(0, 14)) {
            mac(DST_MAC, 0, 6);
            mac(SRC_MAC, 6, 6);
            network(u16(12), 14);
        }
    }

    private void mac(Field field, int at, int length) {
        if (length != 6 || !has(at, 6)) {
            return;
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            text.append(i == 0 ? "" : ":").append(String.format("%02x", u8(at + i)));
        }
        out.text(field, text.toString());
    }

    /**
     * The address family, in the order of the machine that captured; AF_INET6 differs by system.
     */
    private void family(int linkType, ByteOrder order) {
        if (!has(0, 4)) {
            return;
        }
        int family = u32(0);
        if (linkType == LINKTYPE_NULL && order == ByteOrder.LITTLE_ENDIAN) {
            family = Integer.reverseBytes(family);
        }
        switch (family) {
            case 2, 10, 24, 28, 30 -> version(4);
            default -> {}
        }
    }

    private void version(int at) {
        if (has(at, 1)) {
            int version = u8(at) >>> 4;
            network(version == 6 ? ETHERTYPE_IPV6 : version == 4 ? ETHERTYPE_IP : 0, at);
        }
    }

    private void network(int etherType, int start) {
        int type = etherType;
        int at = start;
        for (int i = 0; i < MOST_TAGS; i++) {
            // 802.1Q, 802.1ad, the older double tag
            boolean tag = type == 0x8100 || type == 0x88a8 || type == 0x9100;
            if (!tag || !has(at, 4)) {
                break;
            }
            out.integer(VLAN, u16(at) & 0xfff);
            type = u16(at + 2);
            at += 4;
        }
        out.integer(ETHER_TYPE, type);
        switch (type) {
            case ETHERTYPE_IP -> ipv4(at);
            case ETHERTYPE_IPV6 -> ipv6(at);
            case ETHERTYPE_ARP -> arp(at);
            case 0x8847, 0x8848 -> mpls(at);
            case 0x8864 -> pppoe(at);
            default -> {}
        }
    }

    /** RFC 3032: labels until the one with the bottom bit. */
    private void mpls(int start) {
        int at = start;
        for (int i = 0; i < MOST_TAGS && has(at, 4); i++, at += 4) {
            if ((u8(at + 2) & 1) != 0) {
                version(at + 4);
                return;
            }
        }
    }

    /** RFC 2516: six bytes, then PPP's protocol number. */
    private void pppoe(int at) {
        if (has(at, 8)) {
            int protocol = u16(at + 6);
            if (protocol == 0x0021 || protocol == 0x0057) {
                version(at + 8);
            }
        }
    }

    private void arp(int at) {
        out.text(PROTOCOL, "arp");
        if (has(at, 28) && u16(at + 2) == ETHERTYPE_IP && u8(at + 5) == 4) {
            out.text(SRC, AddressText.ipv4(data, at + 14));
            out.text(DST, AddressText.ipv4(data, at + 24));
            int operation = u16(at + 6);
            out.text(FLAGS, operation == 1 ? "request" : operation == 2 ? "reply" : "");
        }
    }

    /** RFC 791. */
    private void ipv4(int at) {
        if (!has(at, 20) || u8(at) >>> 4 != 4) {
            return;
        }
        int header = (u8(at) & 15) * 4;
        out.text(SRC, AddressText.ipv4(data, at + 12));
        out.text(DST, AddressText.ipv4(data, at + 16));
        out.integer(TTL, u8(at + 8));
        out.integer(IP_ID, u16(at + 4));
        int total = u16(at + 2);
        if (total == 0) {
            total = wireBytes - at; // segmentation was left to the network card
        }
        int fragment = (u16(at + 6) & 0x1fff) * 8;
        out.integer(FRAGMENT, fragment);
        int rest = total - header;
        if (header < 20 || rest < 0) {
            return;
        }
        transport(u8(at + 9), at + header, fragment == 0 ? rest : -rest);
    }

    /** RFC 8200, with extension headers. */
    private void ipv6(int at) {
        if (!has(at, 40) || u8(at) >>> 4 != 6) {
            return;
        }
        out.text(SRC, AddressText.ipv6(data, at + 8));
        out.text(DST, AddressText.ipv6(data, at + 24));
        out.integer(TTL, u8(at + 7));
        int next = u8(at + 6);
        int rest = u16(at + 4);
        if (rest == 0) {
            rest = wireBytes - at - 40; // a jumbogram, or left to the network card
        }
        int to = at + 40;
        boolean later = false;
        for (int i = 0; i < MOST_EXTENSIONS && has(to, 8); i++) {
            int size;
            switch (next) {
                // hop-by-hop, routing, destination options, mobility, HIP, shim6
                case 0, 43, 60, 135, 139, 140 -> size = (u8(to + 1) + 1) * 8;
                case IPPROTO_AH -> size = (u8(to + 1) + 2) * 4;
                case IPPROTO_FRAGMENT -> {
                    size = 8;
                    int fragment = u16(to + 2) & 0xfff8;
                    out.integer(FRAGMENT, fragment);
                    out.integer(IP_ID, u32(to + 4));
                    later = fragment != 0;
                }
                default -> size = 0;
            }
            if (size == 0) {
                break;
            }
            next = u8(to);
            to += size;
            rest -= size;
        }
        transport(next, to, later ? -Math.max(0, rest) : Math.max(0, rest));
    }

    /**
     * Layer four.
     *
     * @param rest bytes the IP header says there are; negative in later fragments, which have no
     *     header of their own
     */
    private void transport(int protocol, int at, int rest) {
        out.text(PROTOCOL, name(protocol));
        out.integer(PAYLOAD, Math.abs(rest));
        if (rest < 0) {
            return;
        }
        switch (protocol) {
            case IPPROTO_TCP -> tcp(at, rest);
            case IPPROTO_UDP -> udp(at, rest);
            case IPPROTO_ICMP, IPPROTO_ICMPV6 -> {
                if (has(at, 2)) {
                    out.integer(ICMP_TYPE, u8(at));
                    out.integer(ICMP_CODE, u8(at + 1));
                    out.integer(PAYLOAD, Math.max(0, rest - 8));
                }
            }
            // 4, 41: IP in IP; 132: SCTP, whose ports lie as TCP's do
            case 132 -> ports(at);
            default -> {}
        }
    }

    private static String name(int protocol) {
        return switch (protocol) {
            case IPPROTO_ICMP -> "icmp";
            case 2 -> "igmp";
            case IPPROTO_TCP -> "tcp";
            case IPPROTO_UDP -> "udp";
            case 47 -> "gre";
            case 50 -> "esp";
            case IPPROTO_AH -> "ah";
            case IPPROTO_ICMPV6 -> "icmp6";
            case 89 -> "ospf";
            case 103 -> "pim";
            case 112 -> "vrrp";
            case 132 -> "sctp";
            default -> Integer.toString(protocol);
        };
    }

    private void ports(int at) {
        if (has(at, 4)) {
            out.integer(SPORT, u16(at));
            out.integer(DPORT, u16(at + 2));
        }
    }

    /** RFC 9293. */
    private void tcp(int at, int rest) {
        ports(at);
        if (!has(at, 20)) {
            return;
        }
        out.integer(SEQ, u32(at + 4));
        out.integer(ACK, u32(at + 8));
        int header = (u8(at + 12) >>> 4) * 4;
        int bits = u8(at + 13);
        StringBuilder flags = new StringBuilder();
        for (int i = 0; i < TCP_FLAGS.length; i++) {
            if ((bits >>> i & 1) != 0) {
                flags.append(flags.isEmpty() ? "" : "|").append(TCP_FLAGS[i]);
            }
        }
        out.text(FLAGS, flags.toString());
        out.integer(WINDOW, u16(at + 14));
        int payload = Math.max(0, rest - Math.max(20, header));
        out.integer(PAYLOAD, payload);
        boolean dns = u16(at) == 53 || u16(at + 2) == 53;
        if (dns && payload > 2 && has(at + header, 2)) {
            dns(at + header + 2); // RFC 1035, 4.2.2: two bytes of length before the message
        }
    }

    private void udp(int at, int rest) {
        ports(at);
        if (!has(at, 8)) {
            return;
        }
        int length = u16(at + 4);
        out.integer(PAYLOAD, Math.max(0, (length == 0 ? rest : Math.min(length, rest)) - 8));
        if (isDns(u16(at)) || isDns(u16(at + 2))) {
            dns(at + 8);
        }
    }

    /** DNS, multicast DNS, LLMNR. */
    private static boolean isDns(int port) {
        return port == 53 || port == 5353 || port == 5355;
    }

    private void dns(int at) {
        if (at < end) {
            new DnsMessage(data.asSlice(at)).putInto(out);
        }
    }
}
