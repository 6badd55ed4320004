package sonde.testkit;

import java.nio.ByteOrder;

/** Captures and the packets in them, header by header. */
public final class PcapBytes {
    private PcapBytes() {}

    private static Bytes net() {
        return new Bytes(ByteOrder.BIG_ENDIAN);
    }

    /** Ethernet header, behind it a VLAN tag when {@code vlan} is not negative. */
    public static byte[] ethernet(int vlan, int type, byte[] rest) {
        Bytes out = net();
        out.raw(new byte[] {2, 0, 0, 0, 0, 2}).raw(new byte[] {2, 0, 0, 0, 0, 1});
        if (vlan >= 0) {
            out.u16(0x8100).u16(vlan);
        }
        return out.u16(type).raw(rest).toBytes();
    }

    /** IPv4 from 10.0.0.1 to 10.0.0.2, with four bytes of options. */
    public static byte[] ipv4(int protocol, byte[] rest) {
        Bytes out = net().u8(0x46).u8(0).u16(24 + rest.length).u16(7).u16(0);
        out.u8(64).u8(protocol).u16(0).u32(0x0a000001).u32(0x0a000002);
        return out.u32(0x01010100).raw(rest).toBytes();
    }

    /** IPv6 from fe80::1 to ::1, with a hop-by-hop header before the rest. */
    public static byte[] ipv6(int protocol, byte[] rest) {
        Bytes out = net().u32(0x60000000).u16(8 + rest.length).u8(0).u8(63);
        out.u64(0xfe80000000000000L).u64(1).u64(0).u64(1);
        out.u8(protocol).u8(0).raw(new byte[6]);
        return out.raw(rest).toBytes();
    }

    /** TCP with options, SYN and ACK set. */
    public static byte[] tcp(int from, int to, byte[] payload) {
        Bytes out = net().u16(from).u16(to).u32(1000).u32(2000).u8(6 << 4).u8(0x12).u16(512);
        return out.u16(0).u16(0).u32(0x020405b4).raw(payload).toBytes();
    }

    /** UDP. */
    public static byte[] udp(int from, int to, byte[] payload) {
        Bytes out = net().u16(from).u16(to).u16(8 + payload.length).u16(0);
        return out.raw(payload).toBytes();
    }

    /** The answer to a question for {@code www.example}: 1.2.3.4, its name by a pointer. */
    public static byte[] dnsAnswer() {
        Bytes out = net().u16(0x1234).u16(0x8180).u16(1).u16(1).u16(0).u16(0);
        out.u8(3).ascii("www").u8(7).ascii("example").u8(0).u16(1).u16(1);
        return out.u16(0xc00c).u16(1).u16(1).u32(60).u16(4).u32(0x01020304).toBytes();
    }

    /** A pcap file; with nanoseconds or microseconds. */
    public static byte[] pcap(ByteOrder order, boolean nanos, int link, byte[]... packets) {
        Bytes out = new Bytes(order);
        out.u32(nanos ? 0xa1b23c4dL : 0xa1b2c3d4L).u16(2).u16(4).u32(0).u32(0).u32(65535);
        out.u32(link);
        for (int i = 0; i < packets.length; i++) {
            out.u32(5).u32(100 + i).u32(packets[i].length).u32(packets[i].length + 4);
            out.raw(packets[i]);
        }
        return out.toBytes();
    }

    /** One block of pcapng. */
    public static byte[] block(ByteOrder order, int type, byte[] body) {
        int size = 12 + (body.length + 3 & -4);
        Bytes out = new Bytes(order).u32(type).u32(size).raw(body).align(4);
        return out.u32(size).toBytes();
    }

    /**
     * A section: an interface of nanoseconds, names, a packet with a comment and drops, a simple
     * packet, statistics.
     */
    public static byte[] pcapng(ByteOrder order, byte[] packet) {
        Bytes all = new Bytes(order);
        all.raw(
                block(
                        order,
                        0x0a0d0d0a,
                        new Bytes(order).u32(0x1a2b3c4d).u16(1).u16(0).u64(-1).toBytes()));
        Bytes port = new Bytes(order).u16(1).u16(0).u32(0);
        port.u16(2).u16(4).ascii("eth0").u16(9).u16(1).u8(9).align(4).u32(0);
        all.raw(block(order, 1, port.toBytes()));
        Bytes names = new Bytes(order).u16(1).u16(4 + 5).raw(new byte[] {10, 0, 0, 1}).text("host");
        all.raw(block(order, 4, names.align(4).u32(0).toBytes()));
        long time = 5_000_000_100L;
        Bytes enhanced = new Bytes(order).u32(0).u32(time >>> 32).u32(time);
        enhanced.u32(packet.length).u32(packet.length + 4).raw(packet).align(4);
        enhanced.u16(1).u16(2).ascii("hi").align(4).u16(2).u16(4).u32(1);
        enhanced.u16(4).u16(8).u64(3).u32(0);
        all.raw(block(order, 6, enhanced.toBytes()));
        all.raw(block(order, 3, new Bytes(order).u32(packet.length).raw(packet).toBytes()));
        Bytes statistics = new Bytes(order).u32(0).u32(time >>> 32).u32(time + 10);
        statistics.u16(4).u16(8).u64(9).u16(5).u16(8).u64(0).u32(0);
        return all.raw(block(order, 5, statistics.toBytes())).toBytes();
    }
}
