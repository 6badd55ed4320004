package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.lang.bpftrace.lower.UserVariable;
import sonde.sys.TargetFile;

/** Symbols of programs by name. */
final class UserVariables {
    private static final long MOST_BYTES = 16L << 30;

    private UserVariables() {}

    /** A symbol that a program defines; null for none. */
    static @Nullable UserVariable find(String path, String name) {
        try (TargetFile file = TargetFile.openTrusted(path, MOST_BYTES)) {
            ElfFile elf = ElfFile.of(file);
            for (int table : new int[] {ElfFile.SHT_SYMTAB, ElfFile.SHT_DYNSYM}) {
                Optional<ElfSymbols> symbols = elf.symbols(table);
                int at = symbols.isPresent() ? index(symbols.get(), name) : -1;
                if (at >= 0) {
                    return new UserVariable(
                            symbols.get().value(at),
                            symbols.get().size(at),
                            elf.type() == ElfFile.ET_EXEC);
                }
            }
        } catch (IOException | InternalError e) {
            // InternalError: the file shrank while it was mapped.
            return null;
        }
        return null;
    }

    private static int index(ElfSymbols symbols, String name) {
        for (int i = 1; i < symbols.count(); i++) {
            if (symbols.section(i) != ElfSymbols.SHN_UNDEF && symbols.name(i).equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** The address that a program states for a place in its file; -1 for none. */
    static long address(String path, long fileOffset) {
        try (TargetFile file = TargetFile.openTrusted(path, MOST_BYTES)) {
            return ElfFile.of(file).addressOf(fileOffset);
        } catch (IOException | InternalError e) {
            return -1;
        }
    }
}
