package sonde.bpf.object;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;

/** An object with what the compiler here does not write: newer types, newer questions. */
final class PatchedObject {
    private static final int HEADER_BYTES = 24;
    private static final int KIND_ENUM64 = 19;
    private static final int CORE_RECORD_BYTES = 16;

    private PatchedObject() {}

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ElfSection section(byte[] object, String name) throws Exception {
        return ElfFile.of(MemorySegment.ofArray(object)).sections().stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /**
     * Adds an unnamed {@code enum : unsigned long} to the types, its enumerators named as the texts
     * at offsets 1 of the strings.
     */
    static byte[] withWideEnum(byte[] object, long value) throws Exception {
        ElfSection types = section(object, ".BTF");
        int start = Math.toIntExact(types.offset());
        byte[] old = Arrays.copyOfRange(object, start, start + Math.toIntExact(types.sizeBytes()));
        ByteBuffer header = little(old);
        int typeBytes = header.getInt(12);
        // struct btf_type: name_off, info (kind, vlen), size; struct btf_enum64: name_off, low,
        // high.
        ByteBuffer added = little(new byte[24]);
        added.putInt(0).putInt(KIND_ENUM64 << 24 | 1).putInt(8);
        added.putInt(1).putInt((int) value).putInt((int) (value >>> 32));
        ByteBuffer fresh = little(new byte[old.length + added.capacity()]);
        fresh.put(old, 0, HEADER_BYTES + typeBytes).put(added.array());
        fresh.put(old, HEADER_BYTES + typeBytes, old.length - HEADER_BYTES - typeBytes);
        fresh.putInt(12, typeBytes + added.capacity());
        fresh.putInt(16, header.getInt(16) + added.capacity());
        // At the end of the file; the section's header says so.
        byte[] whole = Arrays.copyOf(object, object.length + fresh.capacity());
        System.arraycopy(fresh.array(), 0, whole, object.length, fresh.capacity());
        ByteBuffer elf = little(whole);
        int at = Math.toIntExact(elf.getLong(40)) + types.index() * elf.getShort(58);
        elf.putLong(at + 24, object.length).putLong(at + 32, fresh.capacity());
        return whole;
    }

    /** Every CO-RE relocation of a kind becomes one of another. */
    static byte[] withQuestions(byte[] object, int kind, int other) throws Exception {
        byte[] whole = object.clone();
        ByteBuffer bytes = little(whole);
        int start = Math.toIntExact(section(object, ".BTF.ext").offset());
        // struct btf_ext_header: hdr_len at 4, core_relo_off at 24, core_relo_len at 28.
        int at = start + bytes.getInt(start + 4) + bytes.getInt(start + 24);
        int end = at + bytes.getInt(start + 28);
        at += 4; // the size of a record
        while (at < end) {
            int count = bytes.getInt(at + 4);
            at += 8;
            for (int i = 0; i < count; i++, at += CORE_RECORD_BYTES) {
                if (bytes.getInt(at + 12) == kind) {
                    bytes.putInt(at + 12, other);
                }
            }
        }
        return whole;
    }
}
