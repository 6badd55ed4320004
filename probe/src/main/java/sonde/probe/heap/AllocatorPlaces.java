package sonde.probe.heap;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSegment;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.machine.UprobeEmulation;
import sonde.sys.TargetFile;

/** Where the functions of allocators are in files. */
public final class AllocatorPlaces {
    private static final long MOST_BYTES = 4L << 30;
    private static final int MOST_STEPS = 4;
    private static final int WINDOW = 32;

    private AllocatorPlaces() {}

    /**
     * A function of an allocator.
     *
     * @param offset in the file, of the function or of one of its first instructions
     */
    public record AllocatorPlace(String name, AllocatorCall call, long offset) {}

    /**
     * The functions of a file that has an allocator; none where it has no malloc.
     *
     * @param own functions that are none of C, by name
     */
    public static List<AllocatorPlace> of(String path, Map<String, AllocatorCall> own)
            throws IOException {
        return of(path, own, true);
    }

    /**
     * As {@link #of(String, Map)}.
     *
     * @param known whether also functions that are known by their names are meant
     */
    static List<AllocatorPlace> of(String path, Map<String, AllocatorCall> own, boolean known)
            throws IOException {
        try (TargetFile file = TargetFile.openTrusted(path, MOST_BYTES)) {
            if (!ElfFile.isElf(file.bytes())) {
                return List.of();
            }
            ElfFile elf = ElfFile.of(file);
            Map<Long, AllocatorPlace> places = new LinkedHashMap<>();
            boolean makes = false;
            for (int table : new int[] {ElfFile.SHT_SYMTAB, ElfFile.SHT_DYNSYM}) {
                ElfSymbols symbols = elf.symbols(table).orElse(null);
                for (int i = 1; symbols != null && i < symbols.count(); i++) {
                    if (symbols.type(i) != ElfSymbols.STT_FUNC
                            || symbols.section(i) == ElfSymbols.SHN_UNDEF) {
                        continue;
                    }
                    String name = symbols.name(i).replaceFirst("@.*", "");
                    AllocatorCall call = own.get(name);
                    if (call == null && known) {
                        call = AllocatorCall.of(name);
                    }
                    long offset = call == null ? -1 : offset(elf, symbols.value(i));
                    if (call != null && offset >= 0) {
                        long place = offset + quickStep(file.bytes(), offset);
                        places.putIfAbsent(place, new AllocatorPlace(name, call, place));
                        makes |= own.containsKey(name) || !name.startsWith("_Z") && !call.frees();
                    }
                }
            }
            // libstdc++ calls the allocator of C.
            return makes ? new ArrayList<>(places.values()) : List.of();
        }
    }

    private static long offset(ElfFile elf, long address) {
        Collection<ElfSegment> segments = elf.segments();
        for (ElfSegment one : segments) {
            long distance = address - one.address();
            if (one.type() == ElfFile.PT_LOAD && distance >= 0 && distance < one.fileBytes()) {
                return one.offset() + distance;
            }
        }
        return -1;
    }

    /**
     * Bytes to the first instruction that the kernel emulates, over such that change neither the
     * arguments nor the stack pointer: others cost a second trap at each hit. 0 without one.
     */
    private static int quickStep(MemorySegment file, long offset) {
        int count = (int) Math.min(WINDOW, file.byteSize() - offset);
        byte[] code = file.asSlice(offset, count).toArray(ValueLayout.JAVA_BYTE);
        int at = 0;
        for (int step = 0; step < MOST_STEPS; step++) {
            for (int length = 1; length <= 6 && at + length <= count; length++) {
                byte[] one = java.util.Arrays.copyOfRange(code, at, at + length);
                if (UprobeEmulation.emulates(one, false)) {
                    return at;
                }
            }
            int length = harmless(code, at);
            if (length == 0) {
                return 0;
            }
            at += length;
        }
        return 0;
    }

    /** Length of an instruction that compares, or is endbr64; 0 for others. */
    private static int harmless(byte[] code, int from) {
        if (from + 10 > code.length) {
            return 0;
        }
        int word = code[from] & 0xff | (code[from + 1] & 0xff) << 8 | (code[from + 2] & 0xff) << 16;
        if (word == 0x1e0ff3 && code[from + 3] == (byte) 0xfa) {
            return 4; // endbr64
        }
        int at = (code[from] & 0xf0) == 0x40 ? from + 1 : from; // REX
        int operation = code[at] & 0xff;
        int form = code[at + 1] & 0xff;
        boolean registers = form >> 6 == 3;
        boolean relative = (form & 0xc7) == 5; // to the instruction pointer
        boolean compares = (form >> 3 & 7) == 7;
        int rex = at - from;
        return switch (operation) {
            case 0x84, 0x85, 0x39, 0x3b -> registers ? rex + 2 : 0; // test, cmp
            case 0x80, 0x83 -> compares && relative ? rex + 7 : compares && registers ? rex + 3 : 0;
            case 0x81 -> compares && registers ? rex + 6 : 0;
            default -> 0;
        };
    }
}
