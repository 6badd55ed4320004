package sonde.symbol.files;

import java.io.IOException;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfImage;
import sonde.sys.TargetFile;

/**
 * An ELF file that is open: mapped as it lies, or unpacked when it is a kernel module in xz, zstd
 * or gzip, or the boot image of a kernel. A relocatable file is {@linkplain ElfFile#linked()
 * linked}. The bytes are valid until it is closed.
 */
public final class OpenElf implements AutoCloseable {
    private final FilePlace place;
    private final ElfFile elf;
    private final TargetFile file;
    private final ElfImage image;

    private OpenElf(FilePlace place, ElfFile elf, TargetFile file, ElfImage image) {
        this.place = place;
        this.elf = elf;
        this.file = file;
        this.image = image;
    }

    /**
     * Opens the file at a place.
     *
     * @throws MalformedInputException when it is not an ELF file, nor one that is wrapped
     * @throws IOException when it cannot be opened
     */
    public static OpenElf of(FilePlace place) throws IOException {
        return open(place, false, true);
    }

    /** As {@link #of}, a relocatable file as it lies there: addresses and contents unchanged. */
    public static OpenElf asIs(FilePlace place) throws IOException {
        return open(place, false, false);
    }

    /** The file within a binary, {@code .gnu_debugdata}. */
    static OpenElf mini(FilePlace place) throws IOException {
        return open(place, true, true);
    }

    private static OpenElf open(FilePlace place, boolean mini, boolean linked) throws IOException {
        TargetFile file = place.open();
        try {
            ElfImage image = ElfImage.of(place.shown(), file);
            ElfFile elf = mini ? mini(place, image) : image.elf();
            return new OpenElf(place, linked ? elf.linked() : elf, file, image);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        } catch (InternalError e) {
            file.close();
            throw MalformedInputException.shrunk(e);
        }
    }

    private static ElfFile mini(FilePlace place, ElfImage image) throws IOException {
        try {
            return image.elf()
                    .miniDebugInfo()
                    .orElseThrow(() -> new IOException(place.shown() + ": no .gnu_debugdata"));
        } catch (IOException e) {
            image.close();
            throw e;
        }
    }

    /** Its contents. */
    public ElfFile elf() {
        return elf;
    }

    /** Where it lies. */
    public FilePlace place() {
        return place;
    }

    /** Whether its bytes came out of a wrapper. */
    public boolean isUnpacked() {
        return image.isPacked();
    }

    /** The file as it lies on the disk: status, checksum. */
    public TargetFile file() {
        return file;
    }

    @Override
    public void close() {
        image.close();
        file.close();
    }
}
