package sonde.symbol.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import sonde.format.Input;
import sonde.format.MalformedInputException;
import sonde.format.elf.ElfFile;
import sonde.format.wrapper.KernelImage;
import sonde.format.wrapper.Limits;
import sonde.format.wrapper.Unwrapped;
import sonde.format.wrapper.Wrapper;
import sonde.sys.TargetFile;

/**
 * An ELF file that is open: mapped as it lies, or unpacked when it is a kernel module in xz, zstd
 * or gzip, or the boot image of a kernel. A relocatable file is {@linkplain ElfFile#linked()
 * linked}. The bytes are valid until it is closed.
 */
public final class OpenElf implements AutoCloseable {
    /** The largest module or kernel with debugging information is far below. */
    private static final Limits LIMITS = new Limits(8L << 30, 1000, 256L << 20, 1, 1);

    private final Place place;
    private final ElfFile elf;
    private final TargetFile file;
    private final boolean unpacked;
    private final List<AutoCloseable> held;

    private OpenElf(
            Place place, ElfFile elf, TargetFile file, boolean unpacked, List<AutoCloseable> held) {
        this.place = place;
        this.elf = elf;
        this.file = file;
        this.unpacked = unpacked;
        this.held = held;
    }

    /**
     * Opens the file at a place.
     *
     * @throws MalformedInputException when it is no ELF file, nor one that is wrapped
     * @throws IOException when it cannot be opened
     */
    public static OpenElf of(Place place) throws IOException {
        return open(place, false, true);
    }

    /** As {@link #of}, a relocatable file as it lies there: addresses and contents unchanged. */
    public static OpenElf asIs(Place place) throws IOException {
        return open(place, false, false);
    }

    /** The file within a binary, {@code .gnu_debugdata}. */
    static OpenElf mini(Place place) throws IOException {
        return open(place, true, true);
    }

    private static OpenElf open(Place place, boolean mini, boolean linked) throws IOException {
        TargetFile file = place.open();
        List<AutoCloseable> held = new ArrayList<>(List.of(file));
        try {
            MemorySegment mapped = file.bytes();
            boolean wrapped = !ElfFile.isElf(mapped);
            MemorySegment bytes = wrapped ? unpacked(place, mapped, held) : mapped;
            ElfFile elf = ElfFile.of(bytes);
            if (mini) {
                elf =
                        elf.miniDebugInfo()
                                .orElseThrow(() ->
                                        new IOException(place.shown() + ": no .gnu_debugdata"));
            }
            return new OpenElf(place, linked ? elf.linked() : elf, file, wrapped, held);
        } catch (UncheckedIOException e) {
            // a file that cannot be mapped: those of /sys and /proc
            closeAll(held);
            throw e.getCause();
        } catch (IOException | RuntimeException e) {
            closeAll(held);
            throw e;
        } catch (InternalError e) {
            closeAll(held);
            throw MalformedInputException.shrunk(e);
        }
    }

    private static MemorySegment unpacked(
            Place place, MemorySegment mapped, List<AutoCloseable> held) throws IOException {
        Input input = Input.of(place.shown(), mapped);
        Input inner = input;
        if (Wrapper.of(input) != null) {
            Unwrapped unwrapped = Unwrapped.of(input, LIMITS);
            held.add(unwrapped);
            inner = unwrapped.inputs().isEmpty() ? input : unwrapped.inputs().getFirst();
        }
        if (!ElfFile.isElf(inner.segment())) {
            Input kernel = KernelImage.unpack(inner).orElse(inner);
            held.add(kernel);
            inner = kernel;
        }
        return inner.segment();
    }

    /** Its contents. */
    public ElfFile elf() {
        return elf;
    }

    /** Where it lies. */
    public Place place() {
        return place;
    }

    /** Whether its bytes came out of a wrapper. */
    public boolean isUnpacked() {
        return unpacked;
    }

    /** The file as it lies on the disk: status, checksum. */
    public TargetFile file() {
        return file;
    }

    @Override
    public void close() {
        closeAll(held);
    }

    private static void closeAll(List<AutoCloseable> held) {
        for (AutoCloseable one : held.reversed()) {
            switch (one) {
                case TargetFile file -> file.close();
                case Unwrapped unwrapped -> unwrapped.close();
                case Input input -> input.close();
                default -> throw new IllegalStateException("unknown " + one);
            }
        }
    }
}
