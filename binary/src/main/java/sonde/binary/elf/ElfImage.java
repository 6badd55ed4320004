package sonde.binary.elf;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.Input;
import sonde.binary.archive.BootImage;
import sonde.binary.archive.UnwrapLimits;
import sonde.binary.archive.UnwrappedFiles;
import sonde.binary.archive.WrapperFormat;
import sonde.sys.TargetFile;

/**
 * The ELF file in a file: as it lies, or unpacked when it is a kernel module in xz, zstd or gzip,
 * or the boot image of a kernel. Valid until it is closed, and as long as the file is open.
 */
public final class ElfImage implements AutoCloseable {
    /** The largest module or kernel with debugging information is far below. */
    private static final UnwrapLimits LIMITS = new UnwrapLimits(8L << 30, 1000, 256L << 20, 1, 1);

    private final List<UnwrappedFiles> unwrapped = new ArrayList<>();
    private final List<Input> inputs = new ArrayList<>();
    private final ElfFile elf;
    private final boolean packed;

    private ElfImage(String name, MemorySegment mapped) throws IOException {
        packed = !ElfFile.isElf(mapped);
        try {
            elf = ElfFile.of(packed ? unpacked(name, mapped) : mapped);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Looks into a file.
     *
     * @param name for messages
     * @throws sonde.binary.MalformedInputException when there is no ELF file in it
     */
    public static ElfImage of(String name, TargetFile file) throws IOException {
        return new ElfImage(name, file.bytes());
    }

    private MemorySegment unpacked(String name, MemorySegment mapped) throws IOException {
        Input input = Input.of(name, mapped);
        Input inner = input;
        if (WrapperFormat.of(input) != null) {
            UnwrappedFiles content = UnwrappedFiles.of(input, LIMITS);
            unwrapped.add(content);
            inner = content.inputs().isEmpty() ? input : content.inputs().getFirst();
        }
        if (!ElfFile.isElf(inner.segment())) {
            Input kernel = BootImage.unpack(inner).orElse(inner);
            inputs.add(kernel);
            inner = kernel;
        }
        return inner.segment();
    }

    /** Its contents. */
    public ElfFile elf() {
        return elf;
    }

    /** Whether its bytes came out of a wrapper. */
    public boolean isPacked() {
        return packed;
    }

    @Override
    public void close() {
        inputs.forEach(Input::close);
        unwrapped.forEach(UnwrappedFiles::close);
    }
}
