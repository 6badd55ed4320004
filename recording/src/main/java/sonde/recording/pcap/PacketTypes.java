package sonde.recording.pcap;

import java.util.List;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.recording.TypeBuilder;

/** The event types of captures; fields of {@link #PACKET} by position. */
final class PacketTypes {
    static final EventType PACKET =
            new TypeBuilder("packet", "packet")
                    .integer("length", 4, false)
                    .integer("captured", 4, false)
                    .text("interface")
                    .integer("link_type", 2, false)
                    .text("direction")
                    .text("src_mac")
                    .text("dst_mac")
                    .integer("vlan", 2, true)
                    .integer("ether_type", 2, false)
                    .text("src")
                    .text("dst")
                    .text("protocol")
                    .integer("sport", 2, false)
                    .integer("dport", 2, false)
                    .text("flags")
                    .integer("seq", 4, false)
                    .integer("ack", 4, false)
                    .integer("window", 4, false)
                    .integer("payload", 4, false)
                    .integer("ttl", 1, false)
                    .integer("ip_id", 4, false)
                    .integer("fragment", 4, false)
                    .integer("icmp_type", 2, true)
                    .integer("icmp_code", 2, true)
                    .integer("dns_id", 4, true)
                    .text("dns_name")
                    .text("dns_type")
                    .integer("dns_response", 1, false)
                    .integer("dns_rcode", 2, true)
                    .text("dns_answers")
                    .text("comment")
                    .array("data", 1, false)
                    .build(0);

    static final EventType NAME =
            new TypeBuilder("packet", "name").text("address").text("name").build(1);
    static final EventType STATISTICS =
            new TypeBuilder("packet", "statistics")
                    .text("interface")
                    .integer("received", 8, true)
                    .integer("dropped", 8, true)
                    .build(2);
    static final EventType LOG = new TypeBuilder("log", "message").text("message").build(3);
    static final EventType LOST = new TypeBuilder(EventType.NOTICE, "lost").build(4);
    static final EventType CORRUPT = new TypeBuilder(EventType.NOTICE, "corrupt").build(5);

    static final List<EventType> ALL = List.of(PACKET, NAME, STATISTICS, LOG, LOST, CORRUPT);

    private PacketTypes() {}

    static Field field(String name) {
        return PACKET.field(name).orElseThrow();
    }
}
