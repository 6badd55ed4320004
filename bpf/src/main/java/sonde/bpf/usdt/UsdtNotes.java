package sonde.bpf.usdt;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNote;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSymbols;
import sonde.sys.Arch;

/**
 * The markers of an ELF file: notes of owner {@code stapsdt}, type 3, as {@code <sys/sdt.h>} writes
 * them. Each has three words (address of the marker, address of {@code .stapsdt.base} when it was
 * linked, address of the semaphore or 0), then provider, name and arguments, each ended by a zero.
 * Where the file was moved since ({@code prelink}), the addresses are moved as well.
 */
public final class UsdtNotes {
    private static final int TYPE = 3;
    private static final String OWNER = "stapsdt";
    private static final int MOST_NAME = 1024;

    private final ElfFile elf;
    private final long base;

    private UsdtNotes(ElfFile elf) {
        this.elf = elf;
        this.base = elf.section(".stapsdt.base").map(ElfSection::address).orElse(0L);
    }

    /** What a marker is called. */
    public record MarkerName(String provider, String name) {
        private static final Comparator<MarkerName> ORDER =
                Comparator.comparing(MarkerName::provider).thenComparing(MarkerName::name);
    }

    /** All markers with their places in the order of the file; notes that are damaged are not. */
    public static Map<MarkerName, List<UsdtLocation>> read(ElfFile elf) {
        UsdtNotes reader = new UsdtNotes(elf);
        Map<MarkerName, List<UsdtLocation>> found = new TreeMap<>(MarkerName.ORDER);
        for (ElfNote note : elf.notes()) {
            if (note.type() == TYPE && note.owner().equals(OWNER)) {
                reader.add(note.description(), found);
            }
        }
        return found;
    }

    private void add(byte[] description, Map<MarkerName, List<UsdtLocation>> found) {
        ByteBuffer bytes = ByteBuffer.wrap(description).order(elf.order());
        int wordBytes = elf.is64() ? 8 : 4;
        if (bytes.remaining() < 3 * wordBytes + 3) {
            return;
        }
        long pc = word(bytes);
        long linkedBase = word(bytes);
        long semaphore = word(bytes);
        String provider = text(bytes);
        String name = text(bytes);
        String arguments = text(bytes);
        long moved = base == 0 || linkedBase == 0 ? 0 : base - linkedBase;
        long address = pc + moved;
        long fileOffset = elf.offsetOf(address);
        boolean named = !provider.isEmpty() && !name.isEmpty();
        if (!named || fileOffset < 0 || name.length() > MOST_NAME) {
            return;
        }
        long counter = semaphore == 0 ? 0 : elf.offsetOf(semaphore + moved);
        Arch arch = elf.machine() == ElfFile.EM_AARCH64 ? Arch.AARCH64 : Arch.X86_64;
        UsdtArguments parser = new UsdtArguments(arch, symbol -> distance(symbol, address));
        found.computeIfAbsent(new MarkerName(provider, name), _ -> new ArrayList<>())
                .add(new UsdtLocation(fileOffset, Math.max(0, counter), parser.parse(arguments)));
    }

    private long word(ByteBuffer bytes) {
        return elf.is64() ? bytes.getLong() : Integer.toUnsignedLong(bytes.getInt());
    }

    /** Up to the next zero, or all that is left. */
    private static String text(ByteBuffer bytes) {
        int from = bytes.position();
        int end = from;
        while (end < bytes.limit() && bytes.get(end) != 0) {
            end++;
        }
        bytes.position(Math.min(end + 1, bytes.limit()));
        return new String(bytes.array(), from, end - from, StandardCharsets.UTF_8);
    }

    private long distance(String symbol, long address) {
        try {
            for (int table : new int[] {ElfFile.SHT_SYMTAB, ElfFile.SHT_DYNSYM}) {
                ElfSymbols symbols = elf.symbols(table).orElse(null);
                int count = symbols == null ? 0 : symbols.count();
                for (int i = 0; i < count; i++) {
                    if (symbols != null
                            && symbols.section(i) != ElfSymbols.SHN_UNDEF
                            && symbols.name(i).equals(symbol)) {
                        return symbols.value(i) - address;
                    }
                }
            }
        } catch (MalformedInputException e) {
            // Symbols that cannot be read name nothing.
            return 0;
        }
        return 0;
    }
}
