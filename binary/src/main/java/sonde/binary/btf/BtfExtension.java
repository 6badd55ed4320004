package sonde.binary.btf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;

/**
 * {@code .BTF.ext} of an object (Documentation/bpf/btf.rst, section 4.2): what belongs to the
 * instructions of each section, in the order of the file. Offsets count bytes from the start of the
 * section.
 *
 * @param functions by section
 * @param lines by section
 * @param relocations by section
 */
public record BtfExtension(
        Map<String, List<Function>> functions,
        Map<String, List<LineEntry>> lines,
        Map<String, List<CoreRelocation>> relocations) {
    private static final int MAGIC = 0xeb9f;

    /** Bytes up to line_info_len; core_relo_off and core_relo_len came with LLVM 10. */
    private static final int SHORT_HEADER_BYTES = 24;

    private static final int HEADER_BYTES = 32;
    private static final int MOST_RECORDS = 1 << 22;

    /** struct bpf_func_info: a function begins. */
    public record Function(int offset, int type) {}

    /**
     * struct bpf_line_info: from here on the instructions belong to a line.
     *
     * @param text of the line
     * @param line counts from 1
     * @param column counts from 1; 0 for none
     */
    public record LineEntry(int offset, String file, String text, int line, int column) {}

    /**
     * struct bpf_core_relo: an instruction depends on the target kernel's types.
     *
     * @param access indexes through the type: {@code "0:1:2"}
     * @param kind enum bpf_core_relo_kind
     */
    public record CoreRelocation(int offset, int type, String access, int kind) {}

    /** None of all. */
    public static final BtfExtension NONE = new BtfExtension(Map.of(), Map.of(), Map.of());

    private interface EntryReader<T> {
        T read(FieldCursor cursor) throws MalformedInputException;
    }

    /**
     * Reads the section's bytes.
     *
     * @param btf the {@code .BTF} of the same object, whose strings it uses
     */
    public static BtfExtension read(Input input, Btf btf) throws MalformedInputException {
        MemorySegment bytes = input.segment();
        FieldCursor header = new FieldCursor("BTF.ext", bytes, btf.order());
        int magic = header.u16("magic");
        int version = header.u8("version");
        header.u8("flags");
        long headerBytes = header.u32("hdr_len");
        if (magic != MAGIC || version != 1 || headerBytes < SHORT_HEADER_BYTES) {
            throw new MalformedInputException(
                    "BTF.ext", "header", 0, "magic %x, version %d".formatted(magic, version));
        }
        MemorySegment functions = part(header, headerBytes, "func_info");
        MemorySegment lines = part(header, headerBytes, "line_info");
        MemorySegment relocations =
                headerBytes >= HEADER_BYTES
                        ? part(header, headerBytes, "core_relo")
                        : bytes.asSlice(0, 0);
        return new BtfExtension(
                records(functions, btf, "func_info", 8, BtfExtension::function),
                records(lines, btf, "line_info", 16, cursor -> line(cursor, btf)),
                records(relocations, btf, "core_relo", 16, cursor -> relocation(cursor, btf)));
    }

    private static MemorySegment part(FieldCursor header, long headerBytes, String name)
            throws MalformedInputException {
        long offset = header.u32(name + "_off");
        long size = header.u32(name + "_len");
        long at = header.position();
        header.seek(name + "_off", headerBytes + offset);
        MemorySegment part = header.slice(name, size);
        header.seek(name, at);
        return part;
    }

    /** rec_size, then for each section: sec_name_off, num_info, records of rec_size bytes. */
    private static <T> Map<String, List<T>> records(
            MemorySegment part, Btf btf, String name, int least, EntryReader<T> reader)
            throws MalformedInputException {
        Map<String, List<T>> all = new LinkedHashMap<>();
        if (part.byteSize() == 0) {
            return all;
        }
        ByteOrder order = btf.order();
        FieldCursor cursor = new FieldCursor("BTF.ext", part, order);
        int size = cursor.bounded("rec_size", cursor.u32("rec_size"), 1 << 12);
        if (size < least || size % 4 != 0) {
            throw cursor.malformed(name + " rec_size", size + ", least " + least);
        }
        int total = 0;
        while (cursor.remaining() > 0) {
            String section = btf.string(cursor.u32("sec_name_off"));
            int count = cursor.bounded("num_info", cursor.u32("num_info"), MOST_RECORDS - total);
            total += count;
            MemorySegment body = cursor.slice(name + " of " + section, (long) count * size);
            FieldCursor record = new FieldCursor("BTF.ext", body, order);
            List<T> list = all.computeIfAbsent(section, _ -> new ArrayList<>());
            for (int i = 0; i < count; i++) {
                record.seek(name, (long) i * size);
                list.add(reader.read(record));
            }
        }
        return all;
    }

    private static Function function(FieldCursor cursor) throws MalformedInputException {
        return new Function(cursor.s32("insn_off"), cursor.s32("type_id"));
    }

    /** line_col: line in the upper 22 bits, column in the lower 10. */
    private static LineEntry line(FieldCursor cursor, Btf btf) throws MalformedInputException {
        int offset = cursor.s32("insn_off");
        String file = btf.string(cursor.u32("file_name_off"));
        String text = btf.string(cursor.u32("line_off"));
        int place = cursor.s32("line_col");
        return new LineEntry(offset, file, text, place >>> 10, place & 0x3ff);
    }

    private static CoreRelocation relocation(FieldCursor cursor, Btf btf)
            throws MalformedInputException {
        int offset = cursor.s32("insn_off");
        int type = cursor.s32("type_id");
        String access = btf.string(cursor.u32("access_str_off"));
        return new CoreRelocation(offset, type, access, cursor.s32("kind"));
    }
}
