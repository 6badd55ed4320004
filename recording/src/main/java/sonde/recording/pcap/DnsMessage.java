package sonde.recording.pcap;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import sonde.event.Field;
import sonde.recording.BatchWriter;

/** The question and the answers of a DNS message (RFC 1035, section 4). */
final class DnsMessage {
    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int HEADER_BYTES = 12;
    private static final int MOST_LABELS = 128;
    private static final int MOST_ANSWERS = 64;

    private static final Field ID = PacketTypes.field("dns_id");
    private static final Field NAME = PacketTypes.field("dns_name");
    private static final Field TYPE = PacketTypes.field("dns_type");
    private static final Field RESPONSE = PacketTypes.field("dns_response");
    private static final Field RCODE = PacketTypes.field("dns_rcode");
    private static final Field ANSWERS = PacketTypes.field("dns_answers");

    private final MemorySegment data;
    private final int size;
    private int at = HEADER_BYTES;

    DnsMessage(MemorySegment data) {
        this.data = data;
        this.size = (int) data.byteSize();
    }

    private int u16(int offset) {
        return data.get(U16, offset) & 0xffff;
    }

    private int u8(int offset) {
        return data.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
    }

    /** Puts what can be read; nothing when it is no message. */
    void putInto(BatchWriter out) {
        if (size < HEADER_BYTES) {
            return;
        }
        int flags = u16(2);
        boolean response = (flags & 0x8000) != 0;
        out.integer(ID, u16(0));
        out.integer(RESPONSE, response ? 1 : 0);
        if (response) {
            out.integer(RCODE, flags & 15);
        }
        int questions = u16(4);
        for (int i = 0; i < questions && i < MOST_ANSWERS; i++) {
            String name = name();
            if (name == null || at + 4 > size) {
                return;
            }
            if (i == 0) {
                out.text(NAME, name);
                out.text(TYPE, type(u16(at)));
            }
            at += 4;
        }
        answers(u16(6), questions == 0, out);
    }

    private void answers(int count, boolean unasked, BatchWriter out) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < count && i < MOST_ANSWERS; i++) {
            String name = name();
            if (name == null || at + 10 > size) {
                break;
            }
            int type = u16(at);
            int length = u16(at + 8);
            at += 10;
            if (length > size - at) {
                break;
            }
            if (unasked && i == 0) {
                out.text(NAME, name);
                out.text(TYPE, type(type));
            }
            all.append(all.isEmpty() ? "" : ",").append(answer(type, length));
        }
        out.text(ANSWERS, all.toString());
    }

    private String answer(int type, int length) {
        int start = at;
        String text =
                switch (type) {
                    case 1 -> length == 4 ? AddressText.ipv4(data, at) : "";
                    case 28 -> length == 16 ? AddressText.ipv6(data, at) : "";
                    case 2, 5, 12 -> name();
                    case 15 -> {
                        at += 2;
                        yield name();
                    }
                    default -> type(type);
                };
        at = start + length;
        return text == null ? "" : text;
    }

    /** A name at the position, which moves behind it; null when it is none. */
    private @Nullable String name() {
        StringBuilder text = new StringBuilder();
        int from = at;
        boolean jumped = false;
        for (int labels = 0; labels < MOST_LABELS && from < size; labels++) {
            int length = u8(from);
            if (length == 0) {
                at = jumped ? at : from + 1;
                return text.isEmpty() ? "." : text.toString();
            }
            if (length >= 0xc0) {
                if (from + 2 > size) {
                    return null;
                }
                at = jumped ? at : from + 2;
                jumped = true;
                from = u16(from) & 0x3fff;
                continue;
            }
            if (length > 63 || from + 1 + length > size) {
                return null;
            }
            text.append(text.isEmpty() ? "" : ".");
            for (int i = 0; i < length; i++) {
                int c = u8(from + 1 + i);
                // RFC 4343: what is no printable character stands as a decimal escape
                if (c > ' ' && c < 0x7f && c != '.' && c != '\\') {
                    text.append((char) c);
                } else {
                    text.append(String.format("\\%03d", c));
                }
            }
            from += 1 + length;
        }
        return null;
    }

    private static String type(int number) {
        return switch (number) {
            case 1 -> "A";
            case 2 -> "NS";
            case 5 -> "CNAME";
            case 6 -> "SOA";
            case 12 -> "PTR";
            case 15 -> "MX";
            case 16 -> "TXT";
            case 28 -> "AAAA";
            case 33 -> "SRV";
            case 41 -> "OPT";
            case 64 -> "SVCB";
            case 65 -> "HTTPS";
            case 255 -> "ANY";
            default -> "TYPE" + number;
        };
    }
}
