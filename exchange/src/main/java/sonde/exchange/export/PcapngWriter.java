package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import sonde.event.Field;

/**
 * pcapng (draft-ietf-opsawg-pcapng): one section, little-endian, an interface of nanoseconds for
 * each name and link type; names, comments and directions are kept.
 */
final class PcapngWriter implements ExportWriter {
    private static final int SECTION_HEADER = 0x0a0d0d0a;
    private final Map<String, Integer> interfaces = new LinkedHashMap<>();

    /** A block's body, or a list of options. */
    private static final class BlockBody {
        private ByteBuffer bytes = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);

        private void room(int count) {
            if (bytes.remaining() < count) {
                int size = Math.max(2 * bytes.capacity(), bytes.position() + count);
                byte[] grown = Arrays.copyOf(bytes.array(), size);
                int at = bytes.position();
                bytes = ByteBuffer.wrap(grown).order(ByteOrder.LITTLE_ENDIAN).position(at);
            }
        }

        BlockBody u16(int value) {
            room(2);
            bytes.putShort((short) value);
            return this;
        }

        BlockBody u32(long value) {
            room(4);
            bytes.putInt((int) value);
            return this;
        }

        BlockBody u64(long value) {
            room(8);
            bytes.putLong(value);
            return this;
        }

        BlockBody padded(byte[] value) {
            room(value.length + 3);
            bytes.put(value);
            while (bytes.position() % 4 != 0) {
                bytes.put((byte) 0);
            }
            return this;
        }

        BlockBody option(int code, byte[] value) {
            return u16(code).u16(value.length).padded(value);
        }

        void writeTo(OutputStream out, int type) throws IOException {
            int size = bytes.position() + 12;
            BlockBody head = new BlockBody().u32(type).u32(size);
            out.write(head.bytes.array(), 0, 8);
            out.write(bytes.array(), 0, bytes.position());
            out.write(new BlockBody().u32(size).bytes.array(), 0, 4);
        }
    }

    @Override
    public void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException {
        new BlockBody().u32(0x1a2b3c4d).u16(1).u16(0).u64(-1).writeTo(out, SECTION_HEADER);
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            Field data = row.type.field("data").orElse(null);
            if (row.is("packet", "packet") && data != null) {
                packet(row, data, out);
            } else if (row.is("packet", "name")) {
                name(row, out, losses);
            } else if (row.is("packet", "statistics")) {
                statistics(row, out);
            } else {
                losses.add(row.type.qualifiedName());
            }
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private int port(String name, int link, OutputStream out) throws IOException {
        String key = link + " " + name;
        Integer known = interfaces.get(key);
        if (known != null) {
            return known;
        }
        BlockBody body = new BlockBody().u16(link).u16(0).u32(0);
        if (!name.isEmpty()) {
            body.option(2, utf8(name));
        }
        body.option(9, new byte[] {9}).u32(0).writeTo(out, 1);
        interfaces.put(key, interfaces.size());
        return interfaces.size() - 1;
    }

    private void packet(ExportRow row, Field data, OutputStream out) throws IOException {
        int port = port(row.text("interface"), (int) row.integer("link_type", 1), out);
        byte[] bytes = row.bytes(data);
        long time = row.time();
        BlockBody body = new BlockBody().u32(port).u32(time >>> 32).u32(time).u32(bytes.length);
        body.u32(row.integer("length", bytes.length)).padded(bytes);
        String comment = row.text("comment");
        String direction = row.text("direction");
        if (!comment.isEmpty()) {
            body.option(1, utf8(comment));
        }
        if (!direction.isEmpty()) {
            body.u16(2).u16(4).u32(direction.equals("in") ? 1 : 2);
        }
        if (!comment.isEmpty() || !direction.isEmpty()) {
            body.u32(0);
        }
        body.writeTo(out, 6);
    }

    private static void name(ExportRow row, OutputStream out, ExportLosses losses)
            throws IOException {
        byte[] address = address(row.text("address"));
        if (address.length == 0) {
            losses.add("packet:name whose address is not a number");
            return;
        }
        byte[] text = utf8(row.text("name") + "\0");
        byte[] record = Arrays.copyOf(address, address.length + text.length);
        System.arraycopy(text, 0, record, address.length, text.length);
        new BlockBody().option(address.length == 4 ? 1 : 2, record).u32(0).writeTo(out, 4);
    }

    /** Numbers only: nothing is asked of a name server. */
    private static byte[] address(String text) {
        try {
            return text.matches("[0-9a-fA-F:.]+") && text.matches(".*[:.].*")
                    ? InetAddress.ofLiteral(text).getAddress()
                    : new byte[0];
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }

    private void statistics(ExportRow row, OutputStream out) throws IOException {
        String name = row.text("interface");
        int port = -1;
        for (Map.Entry<String, Integer> one : interfaces.entrySet()) {
            if (one.getKey().endsWith(" " + name)) {
                port = one.getValue();
            }
        }
        port = port < 0 ? port(name, 1, out) : port;
        BlockBody body = new BlockBody().u32(port).u32(row.time() >>> 32).u32(row.time());
        long received = row.integer("received", -1);
        long dropped = row.integer("dropped", -1);
        if (received >= 0) {
            body.u16(4).u16(8).u64(received);
        }
        if (dropped >= 0) {
            body.u16(5).u16(8).u64(dropped);
        }
        body.u32(0).writeTo(out, 5);
    }
}
