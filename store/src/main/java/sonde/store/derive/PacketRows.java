package sonde.store.derive;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;

/** Rows of {@link DerivedTable#PACKET}; what a packet does not have is NULL. */
final class PacketRows {
    private PacketRows() {}

    static void add(RowAppender out, Batch batch, int row, EventType type, TraceNumbers target) {
        String protocol = text(batch, row, type, "protocol");
        boolean ip = number(batch, row, type, "ttl") > 0;
        out.begin()
                .add(batch.time(row) + target.shift())
                .add(batch.source().name())
                .add(number(batch, row, type, "length"))
                .add(text(batch, row, type, "src_mac"))
                .add(text(batch, row, type, "dst_mac"))
                .orNull(number(batch, row, type, "vlan"));
        long etherType = number(batch, row, type, "ether_type");
        out.orNull(etherType == 0 ? -1 : etherType)
                .add(text(batch, row, type, "src"))
                .add(text(batch, row, type, "dst"))
                .orNull(ip ? number(batch, row, type, "ttl") : -1)
                .add(protocol);
        transport(out, batch, row, type, protocol == null ? "" : protocol);
        out.orNull(number(batch, row, type, "icmp_type"))
                .orNull(number(batch, row, type, "icmp_code"));
        names(out, batch, row, type);
        out.add(target.trace());
    }

    private static void transport(
            RowAppender out, Batch batch, int row, EventType type, String protocol) {
        boolean ports =
                switch (protocol) {
                    case "tcp", "udp", "sctp" -> true;
                    default -> false;
                };
        // Later fragments have no header of their own.
        boolean first = number(batch, row, type, "fragment") == 0;
        ports &= first;
        out.orNull(ports ? number(batch, row, type, "sport") : -1)
                .orNull(ports ? number(batch, row, type, "dport") : -1)
                .add(text(batch, row, type, "flags"));
        boolean tcp = protocol.equals("tcp") && first;
        for (String field : List.of("seq", "ack")) {
            out.orNull(tcp ? number(batch, row, type, field) & 0xffff_ffffL : -1);
        }
        out.orNull(tcp ? number(batch, row, type, "window") : -1)
                .orNull(protocol.isEmpty() ? -1 : number(batch, row, type, "payload"));
    }

    private static void names(RowAppender out, Batch batch, int row, EventType type) {
        long id = number(batch, row, type, "dns_id");
        boolean dns = id >= 0 && type.field("dns_id").isPresent();
        out.orNull(dns ? id : -1)
                .add(dns ? text(batch, row, type, "dns_name") : null)
                .add(dns ? text(batch, row, type, "dns_type") : null)
                .orNull(dns ? number(batch, row, type, "dns_response") : -1)
                .orNull(dns ? number(batch, row, type, "dns_rcode") : -1)
                .add(dns ? text(batch, row, type, "dns_answers") : null);
    }

    /** 0 where the type has no such field. */
    private static long number(Batch batch, int row, EventType type, String field) {
        return OwnRows.integer(batch, row, type, field);
    }

    private static @Nullable String text(Batch batch, int row, EventType type, String field) {
        String text = OwnRows.text(batch, row, type, List.of(field));
        return text == null || text.isEmpty() ? null : text;
    }
}
