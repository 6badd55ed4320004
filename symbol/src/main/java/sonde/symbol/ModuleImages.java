package sonde.symbol;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.symbol.files.DebugFileRequest;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.RequiredContent;

/**
 * The files that were mapped, for those who read more of them than symbols. A file that is not
 * certainly the one that ran is not read. Thread-safe.
 */
public final class ModuleImages {
    private final SymbolOptions options;
    private final ModuleFiles files;

    /** Nothing is opened yet. */
    public ModuleImages(SymbolOptions options) {
        this.options = options;
        this.files = new ModuleFiles(options, FunctionTable.Aliases.LINKED);
    }

    /** What is read of a file while it is open. */
    @FunctionalInterface
    public interface ImageReading<T> {
        /** Reads it; nothing of the file may be kept. */
        T read(ElfFile elf) throws MalformedInputException;
    }

    /**
     * Reads the file of a module of kind {@code FILE}, or the image of {@code VDSO}.
     *
     * @return empty when there is none that certainly is the mapped one; {@link #notes} says why
     */
    public synchronized <T> Optional<T> read(CodeModule module, ImageReading<T> reading) {
        return switch (module.kind()) {
            case FILE -> files.read(module, reading);
            case VDSO -> vdso(module, reading);
            case ANONYMOUS, UNMAPPED, KERNEL_SYMBOL, RUN_TIME -> Optional.empty();
        };
    }

    /**
     * Reads the separate debug file of a module of kind {@code FILE}.
     *
     * @return empty when there is none of the same build that has what is needed
     */
    public synchronized <T> Optional<T> readSeparate(
            CodeModule module, RequiredContent need, ImageReading<T> reading) {
        return module.kind() == CodeModule.Kind.FILE
                ? files.readSeparate(module, need, reading)
                : Optional.empty();
    }

    /** Where the file of a module of kind {@code FILE} lies; empty when none certainly is it. */
    public synchronized Optional<FilePlace> place(CodeModule module) {
        return module.kind() == CodeModule.Kind.FILE ? files.place(module) : Optional.empty();
    }

    private <T> Optional<T> vdso(CodeModule module, ImageReading<T> reading) {
        byte @Nullable [] image = options.sameMachine() ? Vdso.ofThisProcess().orElse(null) : null;
        if (image == null) {
            return Optional.empty();
        }
        try {
            ElfFile elf = ElfFile.of(image);
            byte[] wanted = module.mapping().buildId();
            byte[] found = elf.buildId().orElse(new byte[0]);
            boolean fits = wanted.length == 0 || DebugFileRequest.isSame(wanted, found);
            return fits ? Optional.of(reading.read(elf)) : Optional.empty();
        } catch (MalformedInputException e) {
            return Optional.empty();
        }
    }

    /** Why files were not read, a line each. */
    public synchronized List<String> notes() {
        return List.copyOf(files.notes());
    }
}
