package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import sonde.binary.MalformedInputException;

/** What the run-time linker is told: the dynamic section up to its DT_NULL, with its strings. */
public final class DynamicTable {
    private static final int ENTRY_LIMIT = 1 << 16;
    private static final int TEXT_LIMIT = 1 << 16;

    private final long offset;
    private final List<DynamicEntry> entries;
    private final MemorySegment strings;

    private DynamicTable(long offset, List<DynamicEntry> entries, MemorySegment strings) {
        this.offset = offset;
        this.entries = entries;
        this.strings = strings;
    }

    /** By the PT_DYNAMIC segment, which the linker uses, else by the section; empty for neither. */
    static Optional<DynamicTable> read(ElfFile elf) throws MalformedInputException {
        for (ElfSegment segment : elf.segments()) {
            if (segment.type() == ElfFile.PT_DYNAMIC
                    && segment.fileBytes() > 0
                    && elf.isStored(segment)) {
                return Optional.of(read(elf, segment.offset(), segment.fileBytes()));
            }
        }
        for (ElfSection section : elf.sections()) {
            if (section.type() == ElfFile.SHT_DYNAMIC) {
                return Optional.of(read(elf, section.offset(), section.sizeBytes()));
            }
        }
        return Optional.empty();
    }

    private static DynamicTable read(ElfFile elf, long offset, long sizeBytes)
            throws MalformedInputException {
        ElfBytes bytes = elf.bytes();
        bytes.slice("dynamic section", offset, sizeBytes);
        int word = bytes.wide ? 8 : 4;
        List<DynamicEntry> list = new ArrayList<>();
        for (long at = 0; at + 2 * word <= sizeBytes && list.size() < ENTRY_LIMIT; at += 2 * word) {
            long tag = bytes.address(offset + at);
            list.add(new DynamicEntry(tag, bytes.address(offset + at + word)));
            if (tag == 0) {
                break;
            }
        }
        List<DynamicEntry> entries = List.copyOf(list);
        return new DynamicTable(offset, entries, strings(elf, entries));
    }

    /** At DT_STRTAB's address, as the linker finds it; by the section's link when that is empty. */
    private static MemorySegment strings(ElfFile elf, List<DynamicEntry> entries) {
        ElfBytes bytes = elf.bytes();
        long address = value(entries, DynamicEntry.DT_STRTAB).orElse(0);
        long size = value(entries, DynamicEntry.DT_STRSZ).orElse(0);
        long at = address == 0 ? -1 : elf.offsetOf(address);
        if (at >= 0 && bytes.holds(at, size)) {
            return bytes.file.asSlice(at, size);
        }
        for (ElfSection section : elf.sections()) {
            if (section.type() == ElfFile.SHT_DYNAMIC
                    && section.link() > 0
                    && section.link() < elf.sections().size()) {
                ElfSection table = elf.sections().get(section.link());
                if (bytes.holds(table.offset(), table.sizeBytes())) {
                    return bytes.file.asSlice(table.offset(), table.sizeBytes());
                }
            }
        }
        return MemorySegment.ofArray(new byte[0]);
    }

    private static OptionalLong value(List<DynamicEntry> entries, long tag) {
        return entries.stream()
                .filter(e -> e.tag() == tag)
                .mapToLong(DynamicEntry::value)
                .findFirst();
    }

    /** Where it begins in the file. */
    public long offset() {
        return offset;
    }

    /** All entries, the final DT_NULL among them. */
    public List<DynamicEntry> entries() {
        return entries;
    }

    /** The value of the first entry of a tag. */
    public OptionalLong value(long tag) {
        return value(entries, tag);
    }

    /** The name that an entry's value stands for; empty when its offset is wrong. */
    public String text(DynamicEntry entry) {
        return ElfBytes.string(strings, entry.value(), TEXT_LIMIT);
    }

    /** Names of the entries of a tag, in order. */
    public List<String> texts(long tag) {
        return entries.stream().filter(e -> e.tag() == tag).map(this::text).toList();
    }

    /** Libraries that are needed, DT_NEEDED. */
    public List<String> needed() {
        return texts(DynamicEntry.DT_NEEDED);
    }

    /** The name that others need it by, DT_SONAME. */
    public Optional<String> soname() {
        return texts(DynamicEntry.DT_SONAME).stream().findFirst();
    }
}
