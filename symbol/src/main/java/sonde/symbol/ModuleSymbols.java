package sonde.symbol;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.event.result.Frame;
import sonde.symbol.demangle.Demangler;

/** The functions of one module, ready to name offsets. Holds nothing of the file open. */
final class ModuleSymbols {
    private static final int NAME_LIMIT = 4096;

    private final String module;
    private final @Nullable ElfFile layout;
    private final @Nullable FunctionTable functions;
    private final @Nullable Frame[] frames;
    private final @Nullable ModuleSymbols rest;

    private ModuleSymbols(
            String module,
            @Nullable ElfFile layout,
            @Nullable FunctionTable functions,
            @Nullable ModuleSymbols rest) {
        this.rest = rest;
        this.module = module;
        this.layout = layout;
        this.functions = functions;
        this.frames = new Frame[functions == null ? 0 : functions.symbolCount()];
    }

    /** A module whose symbols are not to be had. */
    static ModuleSymbols unknown(String module) {
        return new ModuleSymbols(module, null, null, null);
    }

    /**
     * @param layout the file that was mapped: turns offsets in it into addresses as stated in the
     *     ELF
     */
    static ModuleSymbols of(String module, ElfFile layout, FunctionTable functions) {
        return new ModuleSymbols(module, layout, functions, null);
    }

    /** As above, with a second table for what the first one lacks. */
    static ModuleSymbols of(
            String module, ElfFile layout, FunctionTable functions, FunctionTable second) {
        ModuleSymbols rest = new ModuleSymbols(module, layout, second, null);
        return new ModuleSymbols(module, layout, functions, rest);
    }

    /** The functions of {@code .symtab}, or where there is none of {@code .dynsym}. */
    static Optional<FunctionTable> functions(
            ElfFile elf, int sectionType, FunctionTable.Aliases aliases)
            throws MalformedInputException {
        Optional<ElfSymbols> symbols = elf.symbols(sectionType);
        return symbols.map(s -> FunctionTable.of(elf, s, aliases))
                .filter(t -> t.intervalCount() > 0);
    }

    Frame frame(long fileOffset) {
        if (layout == null || functions == null) {
            return unknown(fileOffset);
        }
        long address = layout.addressOf(fileOffset);
        int symbol = address == -1 ? -1 : functions.find(address);
        if (symbol < 0) {
            return rest != null
                    ? rest.frame(fileOffset)
                    : unknown(address == -1 ? fileOffset : address);
        }
        Frame frame = frames[symbol];
        if (frame == null) {
            String name = printable(Demangler.demangle(functions.name(symbol)));
            frame = new Frame(name, module, Frame.Kind.USER);
            frames[symbol] = frame;
        }
        return frame;
    }

    /** How far into its function an offset in the file lies; -1 when none holds it. */
    long offsetInFunction(long fileOffset) {
        if (layout == null || functions == null) {
            return -1;
        }
        long address = layout.addressOf(fileOffset);
        int symbol = address == -1 ? -1 : functions.find(address);
        if (symbol < 0) {
            return rest == null ? -1 : rest.offsetInFunction(fileOffset);
        }
        return address - functions.address(symbol);
    }

    /** The name of the function at an offset in the file as it stands there; null for none. */
    @Nullable String plainName(long fileOffset) {
        if (layout == null || functions == null) {
            return null;
        }
        long address = layout.addressOf(fileOffset);
        int symbol = address == -1 ? -1 : functions.find(address);
        if (symbol < 0) {
            return rest == null ? null : rest.plainName(fileOffset);
        }
        return printable(functions.name(symbol));
    }

    private Frame unknown(long offset) {
        return new Frame(place(module, offset), module, Frame.Kind.USER);
    }

    /** {@code [module+0xoffset]}. */
    static String place(String module, long offset) {
        boolean bracketed = module.startsWith("[") && module.endsWith("]");
        String name = bracketed ? module.substring(1, module.length() - 1) : module;
        return "[" + name + "+0x" + Long.toHexString(offset) + "]";
    }

    /** The name without control characters, which a hostile file may hold, and not endless. */
    static String printable(String name) {
        int length = Math.min(name.length(), NAME_LIMIT);
        int at = 0;
        while (at < length && !Character.isISOControl(name.charAt(at))) {
            at++;
        }
        if (at == name.length()) {
            return name;
        }
        StringBuilder text = new StringBuilder(length + 1).append(name, 0, at);
        for (; at < length; at++) {
            char c = name.charAt(at);
            text.append(Character.isISOControl(c) ? '?' : c);
        }
        return length < name.length() ? text.append('…').toString() : text.toString();
    }
}
