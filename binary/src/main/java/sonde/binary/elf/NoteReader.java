package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** Reads notes (gABI chapter 5, "Note Section") up to the first that does not fit. */
final class NoteReader {
    private static final int NOTE_LIMIT = 1 << 16;
    private static final int NAME_LIMIT = 256;
    private static final int DESCRIPTION_LIMIT_BYTES = 64 << 20;

    private NoteReader() {}

    /**
     * The notes of a range.
     *
     * @param alignment of names and descriptions: 8 where the section or segment states 8 (GNU
     *     property notes), else 4, whatever the class is
     */
    static List<ElfNote> read(ElfBytes elf, long start, long sizeBytes, long alignment) {
        List<ElfNote> notes = new ArrayList<>();
        if (!elf.holds(start, sizeBytes)) {
            return notes;
        }
        long end = start + sizeBytes;
        int step = alignment == 8 ? 8 : 4;
        long held = 0;
        long at = start;
        while (end - at >= 12 && notes.size() < NOTE_LIMIT) {
            long nameBytes = elf.u32(at);
            long descriptionBytes = elf.u32(at + 4);
            int type = (int) elf.u32(at + 8);
            long name = at + 12;
            long description = start + align(name + nameBytes - start, step);
            held += descriptionBytes;
            if (description + descriptionBytes > end || held > DESCRIPTION_LIMIT_BYTES) {
                break;
            }
            MemorySegment owner = elf.file.asSlice(name, nameBytes);
            notes.add(
                    new ElfNote(
                            name(owner),
                            ElfBytes.string(owner, 0, NAME_LIMIT),
                            type,
                            elf.file
                                    .asSlice(description, descriptionBytes)
                                    .toArray(ValueLayout.JAVA_BYTE)));
            at = start + align(description + descriptionBytes - start, step);
        }
        return notes;
    }

    private static byte[] name(MemorySegment owner) {
        return owner.asSlice(0, Math.min(NAME_LIMIT, owner.byteSize()))
                .toArray(ValueLayout.JAVA_BYTE);
    }

    private static long align(long value, int alignment) {
        return (value + alignment - 1) & -alignment;
    }
}
