package sonde.probe.syscall;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.NoSuchElementException;
import java.util.OptionalLong;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSegment;
import sonde.binary.machine.ProbePlacement;
import sonde.sys.MappedRange;
import sonde.sys.NativeLibrary;
import sonde.sys.ProcessCalls;

/** Where the probes of functions of x86-64 are put, as offsets in their files. */
public final class FunctionPlaces {
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
     */
    public static long of(ElfFile elf, long offset, long size) throws IOException {
        for (ElfSegment segment : elf.segments()) {
            long within = offset - segment.offset();
            if (segment.type() == ElfFile.PT_LOAD
                    && within >= 0
                    && within < segment.fileBytes()) {
                MemorySegment content = elf.content(segment);
                long bytes =
                        Math.min(
                                Math.min(CODE_BYTES, size == 0 ? SHORT_BYTES : size),
                                content.byteSize() - within);
                byte[] code = content.asSlice(within, bytes).toArray(ValueLayout.JAVA_BYTE);
                return offset + ProbePlacement.of(code, LONG_NOPS).offset();
            }
        }
        return offset;
    }

    /**
     * The function that a symbol of STT_GNU_IFUNC stands for. This process runs on the same
     * processor, so where it has mapped the same file its loader has made the same choice.
     *
     * @param file device and inode as {@link MappedRange} has them
     * @return empty when the file is not mapped here, or the function lies elsewhere (vDSO)
     */
    public static OptionalLong chosen(String file, String soname, String name)
            throws IOException {
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
