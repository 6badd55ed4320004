package sonde.testkit;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes small ELF files field by field (gABI chapters 4 and 5) with one code segment at address
 * 0x1000 and file offset 0, any class and byte order.
 */
public final class ElfWriter {
    /** Where {@code .text} begins in the file; its address is 0x1000 more. */
    public static final int TEXT_OFFSET = 0x200;

    public static final long TEXT_ADDRESS = 0x1200;

    private final boolean wide;
    private final ByteOrder order;
    private final int textBytes;
    private final List<Symbol> symbols = new ArrayList<>();
    private final List<Extra> extras = new ArrayList<>();

    private record Symbol(String name, long value, long size, int info, int section) {}

    private record Extra(String name, int type, long flags, long address, byte[] bytes) {}

    public ElfWriter(boolean wide, ByteOrder order, int textBytes) {
        this.wide = wide;
        this.order = order;
        this.textBytes = textBytes;
    }

    /** Adds a symbol of section 1, {@code .text}; info is binding times 16 plus type. */
    public ElfWriter symbol(String name, long value, long size, int info) {
        symbols.add(new Symbol(name, value, size, info, 1));
        return this;
    }

    /** Adds a section. */
    public ElfWriter section(String name, int type, long flags, byte[] bytes) {
        return section(name, type, flags, 0, bytes);
    }

    /** Adds a section that states an address. */
    public ElfWriter section(String name, int type, long flags, long address, byte[] bytes) {
        extras.add(new Extra(name, type, flags, address, bytes.clone()));
        return this;
    }

    /** Adds the GNU build-id note. */
    public ElfWriter buildId(byte[] id) {
        ByteBuffer note = buffer(16 + id.length);
        note.putInt(4).putInt(id.length).putInt(3).put("GNU\0".getBytes(StandardCharsets.UTF_8));
        note.put(id);
        return section(".note.gnu.build-id", 7, 2, note.array());
    }

    /** A buffer in the file's byte order. */
    public ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(order);
    }

    /** The file. */
    public byte[] bytes() {
        ByteArrayOutputStream strings = new ByteArrayOutputStream();
        strings.write(0);
        ByteBuffer table = buffer((symbols.size() + 1) * (wide ? 24 : 16));
        table.position(wide ? 24 : 16);
        for (Symbol s : symbols) {
            int name = strings.size();
            strings.writeBytes((s.name + "\0").getBytes(StandardCharsets.UTF_8));
            table.putInt(name);
            if (wide) {
                table.put((byte) s.info).put((byte) 0).putShort((short) s.section);
                table.putLong(s.value).putLong(s.size);
            } else {
                table.putInt((int) s.value).putInt((int) s.size);
                table.put((byte) s.info).put((byte) 0).putShort((short) s.section);
            }
        }
        int strtab = 3 + extras.size();
        List<byte[]> contents = new ArrayList<>();
        List<long[]> headers = new ArrayList<>();
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        names.write(0);
        // name, type, flags, address, link, entry size
        add(headers, names, ".text", 1, 6, TEXT_ADDRESS, 0, 0);
        contents.add(new byte[textBytes]);
        for (Extra extra : extras) {
            add(headers, names, extra.name, extra.type, extra.flags, extra.address, 0, 0);
            contents.add(extra.bytes);
        }
        add(headers, names, ".symtab", 2, 0, 0, strtab, wide ? 24 : 16);
        contents.add(table.array());
        add(headers, names, ".strtab", 3, 0, 0, 0, 0);
        contents.add(strings.toByteArray());
        add(headers, names, ".shstrtab", 3, 0, 0, 0, 0);
        contents.add(names.toByteArray());
        return assemble(headers, contents);
    }

    private static void add(
            List<long[]> headers, ByteArrayOutputStream names, String name, long... fields) {
        long[] header = new long[6];
        header[0] = names.size();
        System.arraycopy(fields, 0, header, 1, 5);
        names.writeBytes((name + "\0").getBytes(StandardCharsets.UTF_8));
        headers.add(header);
    }

    private byte[] assemble(List<long[]> headers, List<byte[]> contents) {
        int at = TEXT_OFFSET;
        int[] offsets = new int[contents.size()];
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = at;
            at = at + contents.get(i).length + 15 & ~15;
        }
        int count = headers.size() + 1;
        ByteBuffer out = buffer(at + count * (wide ? 64 : 40));
        fileHeader(out, at, count);
        for (int i = 0; i < offsets.length; i++) {
            out.position(offsets[i]).put(contents.get(i));
            long[] h = headers.get(i);
            out.position(at + (i + 1) * (wide ? 64 : 40));
            out.putInt((int) h[0]).putInt((int) h[1]);
            address(out, h[2], h[3], offsets[i], contents.get(i).length);
            out.putInt((int) h[4]).putInt(0);
            address(out, 1, h[5]);
        }
        return out.array();
    }

    private void fileHeader(ByteBuffer out, int sectionTable, int sections) {
        out.put(new byte[] {0x7f, 'E', 'L', 'F', (byte) (wide ? 2 : 1)});
        out.put((byte) (order == ByteOrder.BIG_ENDIAN ? 2 : 1)).put((byte) 1);
        out.position(16);
        out.putShort((short) 3).putShort((short) 62).putInt(1); // ET_DYN, EM_X86_64
        address(out, TEXT_ADDRESS, wide ? 64 : 52, sectionTable);
        out.putInt(0);
        out.putShort((short) (wide ? 64 : 52)).putShort((short) (wide ? 56 : 32));
        out.putShort((short) 1).putShort((short) (wide ? 64 : 40));
        out.putShort((short) sections).putShort((short) (sections - 1));
        out.putInt(1); // PT_LOAD
        if (wide) {
            out.putInt(5); // read, execute
        }
        long size = (long) TEXT_OFFSET + textBytes;
        address(out, 0, 0x1000, 0x1000, size, size);
        if (!wide) {
            out.putInt(5);
        }
        address(out, 0x1000);
    }

    private void address(ByteBuffer out, long... values) {
        for (long value : values) {
            if (wide) {
                out.putLong(value);
            } else {
                out.putInt((int) value);
            }
        }
    }
}
