package sonde.analysis.outline;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.TimeWindow;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/** Packets by who talks to whom: both directions of a pair of ends are one flow. */
public final class PacketFlows implements Operator {
    private static final int MOST_FLOWS = 1 << 16;
    private static final Key OTHERS = new Key("…", "…", "…");

    private final TimeWindow window;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);
    private final Map<Key, FlowTotal> sums = new HashMap<>();

    /** Nothing yet. */
    public PacketFlows(TimeWindow window) {
        this.window = window;
    }

    /** Types whose rows are packets: {@code src} and {@code dst} are text. */
    public static boolean isPacket(EventType type) {
        return text(type, "src").isPresent() && text(type, "dst").isPresent();
    }

    private static Optional<Field> text(EventType type, String name) {
        return type.field(name).filter(Field::isText);
    }

    private record FlowFields(
            StringField src,
            StringField dst,
            @Nullable StringField protocol,
            @Nullable IntegerField sourcePort,
            @Nullable IntegerField port,
            @Nullable IntegerField length,
            int leastBytes) {}

    private static final class Fields {
        final int[] codes;
        final @Nullable FlowFields[] packets;

        Fields(Source source) {
            codes = new int[source.types().size()];
            packets = new @Nullable FlowFields[codes.length];
            for (EventType type : source.types()) {
                if (isPacket(type)) {
                    codes[type.id()] = 1;
                    packets[type.id()] = packet(type);
                }
            }
        }

        private static FlowFields packet(EventType type) {
            int bytes = 0;
            for (Field field : type.fields()) {
                bytes = Math.max(bytes, field.offset() + field.sizeBytes());
            }
            return new FlowFields(
                    StringField.of(type.field("src").orElseThrow()),
                    StringField.of(type.field("dst").orElseThrow()),
                    text(type, "protocol").map(StringField::of).orElse(null),
                    integer(type, "sport"),
                    integer(type, "dport"),
                    integer(type, "length"),
                    bytes);
        }

        private static @Nullable IntegerField integer(EventType type, String name) {
            return type.field(name)
                    .filter(field -> field.kind() == Field.Kind.INTEGER)
                    .filter(field -> Integer.bitCount(field.sizeBytes()) == 1)
                    .map(IntegerField::of)
                    .orElse(null);
        }
    }

    private record Key(String one, String other, String protocol) {}

    /** The packets between two ends. */
    public static final class FlowTotal {
        private final Key key;
        private long packets;
        private long bytes;

        private FlowTotal(Key key) {
            this.key = key;
        }

        /** The end that was seen sending first. */
        public String one() {
            return key.one;
        }

        /** The other end. */
        public String other() {
            return key.other;
        }

        /** TCP, UDP, ICMP, …; empty when nothing says. */
        public String protocol() {
            return key.protocol;
        }

        /** How many. */
        public long packets() {
            return packets;
        }

        /** Their lengths, as they were on the wire. */
        public long bytes() {
            return bytes;
        }
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes;
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            FlowFields packet = fields.packets[batch.type(row)];
            if (packet != null
                    && window.contains(batch.time(row))
                    && batch.payloadBytes(row) >= packet.leastBytes) {
                add(packet, batch, row);
            }
        }
    }

    private void add(FlowFields packet, Batch batch, int row) {
        String protocol = packet.protocol == null ? "" : packet.protocol.of(batch, row);
        String src = end(packet.src.of(batch, row), packet.sourcePort, batch, row);
        String dst = end(packet.dst.of(batch, row), packet.port, batch, row);
        FlowTotal sum = sums.get(new Key(src, dst, protocol));
        if (sum == null) {
            sum = sums.get(new Key(dst, src, protocol));
        }
        if (sum == null) {
            Key key = sums.size() < MOST_FLOWS ? new Key(src, dst, protocol) : OTHERS;
            sum = sums.computeIfAbsent(key, FlowTotal::new);
        }
        sum.packets++;
        sum.bytes += packet.length == null ? 0 : packet.length.of(batch, row);
    }

    /** {@code 127.0.0.1:80}, {@code [::1]:80}; without a port the address. */
    private static String end(String host, @Nullable IntegerField port, Batch batch, int row) {
        long number = port == null ? 0 : port.of(batch, row);
        if (number == 0) {
            return host;
        }
        return (host.indexOf(':') >= 0 ? "[" + host + "]:" : host + ":") + number;
    }

    /** Every flow, most bytes first. */
    public List<FlowTotal> sums() {
        List<FlowTotal> all = new ArrayList<>(sums.values());
        all.sort(
                Comparator.comparingLong((FlowTotal sum) -> -sum.bytes)
                        .thenComparing(sum -> -sum.packets)
                        .thenComparing(sum -> sum.key.toString()));
        return all;
    }
}
