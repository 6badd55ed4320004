package sonde.probe.syscall;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalLong;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfRelocation;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSegment;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.machine.ProbePlacement;
import sonde.sys.MappedRange;
import sonde.sys.NativeLibrary;
import sonde.sys.ProcessCalls;

/** Where the probes of functions of x86-64 are put, as offsets in their files. */
public final class FunctionPlaces {
    /** The longest call: {@code call *DISPLACEMENT(%rip)}. */
    private static final int CALL_BYTES = 6;

    private static final int CODE_BYTES = 1 << 14;
    private static final int SHORT_BYTES = 256;
    private static final boolean LONG_NOPS = hasLongNops();

    private FunctionPlaces() {}

    private static boolean hasLongNops() {
        String[] numbers = System.getProperty("os.version", "").split("[^0-9]", 3);
        try {
            int major = Integer.parseInt(numbers[0]);
            return major > 6 || major == 6 && Integer.parseInt(numbers[1]) >= 16;
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return false;
        }
    }

    /**
     * The place for the begin of a function ({@link ProbePlacement}).
     *
     * @param offset of the function in the file
     * @param size 0 when not known
     * @return empty when a probe would change what the function does
     */
    public static OptionalLong of(ElfFile elf, long offset, long size) throws IOException {
        byte[] code = code(elf, offset, Math.min(CODE_BYTES, size == 0 ? SHORT_BYTES : size));
        return code.length == 0
                ? OptionalLong.of(offset)
                : ProbePlacement.of(code, LONG_NOPS).stream()
                        .mapToLong(place -> offset + place.offset())
                        .findFirst();
    }

    /**
     * The symbol that a call names, when it goes through the PLT or a slot of the GOT.
     *
     * @param offset in the file of the place to which the call returns
     * @return empty for calls through other pointers
     */
    public static Optional<String> called(ElfFile elf, long offset) throws IOException {
        byte[] call = code(elf, offset - CALL_BYTES, CALL_BYTES);
        if (call.length < CALL_BYTES) {
            return Optional.empty();
        }
        long back = elf.addressOf(offset);
        int displacement = displacement(call, CALL_BYTES - 4);
        if (call[0] == (byte) 0xff && call[1] == 0x15) { // call *DISPLACEMENT(%rip)
            return slot(elf, back + displacement);
        }
        if (call[1] != (byte) 0xe8) {
            return Optional.empty();
        }
        long stub = back + displacement;
        byte[] jump = code(elf, elf.offsetOf(stub), 16);
        for (int at = 0; at + 6 <= Math.min(jump.length, 12); at++) {
            if (jump[at] == (byte) 0xff && jump[at + 1] == 0x25) { // jmp *DISPLACEMENT(%rip)
                return slot(elf, stub + at + 6 + displacement(jump, at + 2));
            }
        }
        return Optional.empty();
    }

    private static int displacement(byte[] code, int at) {
        return ByteBuffer.wrap(code, at, 4).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    private static Optional<String> slot(ElfFile elf, long address) throws IOException {
        Optional<ElfSymbols> symbols = elf.symbols(ElfFile.SHT_DYNSYM);
        for (ElfSection section : elf.sections()) {
            if (section.type() == ElfFile.SHT_RELA && symbols.isPresent()) {
                for (ElfRelocation one : elf.relocations(section)) {
                    if (one.offset() == address && one.symbol() < symbols.get().count()) {
                        return Optional.of(symbols.get().name(one.symbol()));
                    }
                }
            }
        }
        return Optional.empty();
    }

    /** Bytes of a file that are loaded, at most so many; none when there are none. */
    private static byte[] code(ElfFile elf, long offset, long most) throws IOException {
        for (ElfSegment segment : elf.segments()) {
            long within = offset - segment.offset();
            if (segment.type() == ElfFile.PT_LOAD && within >= 0 && within < segment.fileBytes()) {
                MemorySegment content = elf.content(segment);
                long bytes = Math.min(most, content.byteSize() - within);
                return content.asSlice(within, bytes).toArray(ValueLayout.JAVA_BYTE);
            }
        }
        return new byte[0];
    }

    /**
     * The function that a symbol of STT_GNU_IFUNC stands for. This process runs on the same
     * processor, so where it has mapped the same file its loader has made the same choice.
     *
     * @param file device and inode as {@link MappedRange} has them
     * @return empty when the file is not mapped here, or the function lies elsewhere (vDSO)
     */
    public static OptionalLong chosen(String file, String soname, String name) throws IOException {
        long address = 0;
        for (MappedRange range : MappedRange.of(ProcessCalls.getpid())) {
            if (!(range.device() + ":" + range.inode()).equals(file)) {
                continue;
            }
            try {
                address =
                        address == 0
                                ? NativeLibrary.open(soname).function(name).address()
                                : address;
            } catch (NoSuchElementException e) {
                return OptionalLong.empty();
            }
            if (address >= range.start() && address < range.end()) {
                return OptionalLong.of(address - range.start() + range.offset());
            }
        }
        return OptionalLong.empty();
    }
}
