package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * A note (gABI chapter 5, "Note Section").
 *
 * @param name the bytes of the name, its zeros among them
 * @param owner the name up to its first zero: "GNU", "stapsdt"
 * @param type by owner
 * @param description its bytes
 */
public record ElfNote(byte[] name, String owner, int type, byte[] description) {
    /** Type of owner "GNU": a build-id. */
    public static final int NT_GNU_BUILD_ID = 3;

    private static final int MOST_ID_BYTES = 64;

    /**
     * The build-id among notes that lie in no ELF file: {@code /sys/kernel/notes}, {@code
     * /sys/module/NAME/notes/.note.gnu.build-id}.
     *
     * @param notes in the byte order of this machine
     */
    public static Optional<byte[]> buildIdIn(byte[] notes) {
        ElfBytes bytes = ElfBytes.ofThisMachine(MemorySegment.ofArray(notes));
        return buildIdIn(NoteReader.read(bytes, 0, notes.length, 4));
    }

    static Optional<byte[]> buildIdIn(List<ElfNote> notes) {
        return notes.stream()
                .filter(n -> n.type() == NT_GNU_BUILD_ID && n.owner().equals("GNU"))
                .map(ElfNote::description)
                .filter(id -> id.length > 0 && id.length <= MOST_ID_BYTES)
                .findFirst();
    }
}
