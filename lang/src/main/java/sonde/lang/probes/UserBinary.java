package sonde.lang.probes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.LineSearch;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.bpf.usdt.UsdtLocation;
import sonde.bpf.usdt.UsdtNotes;
import sonde.bpf.usdt.UsdtNotes.MarkerName;
import sonde.event.Glob;
import sonde.lang.probes.AttachPoint.AttachTarget.SourceLinePlace;
import sonde.symbol.demangle.Demangler;
import sonde.sys.TargetFile;

/** An executable or library: its functions and markers, read when asked for. */
final class UserBinary implements AutoCloseable {
    private static final long MOST_BYTES = 16L << 30;

    /** What the Go linker writes into every program, and strip(1) leaves. */
    private static final String GO_BUILD = ".go.buildinfo";

    private final TargetFile file;
    private final ElfFile elf;

    private UserBinary(TargetFile file, ElfFile elf) {
        this.file = file;
        this.elf = elf;
    }

    /**
     * A function.
     *
     * @param name without a version
     * @param address as stated in the file
     * @param sizeBytes 0 where unknown
     */
    record Function(String name, long address, long sizeBytes, long fileOffset) {}

    /**
     * Opens.
     *
     * @throws MalformedInputException when it is not an ELF file
     */
    static UserBinary open(String path) throws IOException {
        TargetFile file = TargetFile.openTrusted(path, MOST_BYTES);
        try {
            return new UserBinary(file, ElfFile.of(file));
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** The functions of a file; none where it cannot be read. */
    static List<String> functionNames(String path) {
        try (UserBinary binary = open(path)) {
            return List.copyOf(binary.functions(Glob.of("*")).keySet());
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Whether a function was compiled by Go: its names have the package in front. */
    boolean isGo(Function function) {
        return function.name().indexOf('.') > 0 && elf.section(GO_BUILD).isPresent();
    }

    /** Functions that a pattern names, by name; of several of a name the first. */
    Map<String, Function> functions(Glob glob) throws MalformedInputException {
        Map<String, Function> found = new TreeMap<>();
        for (ElfSymbols symbols : tables()) {
            for (int i = 0; i < symbols.count(); i++) {
                if (isFunction(symbols, i)) {
                    String name = plain(symbols.name(i));
                    if (!found.containsKey(name) && glob.matches(name)) {
                        add(symbols, i, name, found);
                    }
                }
            }
        }
        return found;
    }

    /** Functions whose name in C++ a pattern names, by their name in the file. */
    Map<String, Function> cppFunctions(Glob glob, boolean withParameters)
            throws MalformedInputException {
        Map<String, Function> found = new TreeMap<>();
        for (ElfSymbols symbols : tables()) {
            for (int i = 0; i < symbols.count(); i++) {
                if (isFunction(symbols, i)) {
                    String name = plain(symbols.name(i));
                    String shown = name.startsWith("_Z") ? Demangler.demangle(name) : name;
                    String wanted = withParameters ? shown : withoutParameters(shown);
                    if (!found.containsKey(name) && (glob.matches(wanted) || glob.matches(name))) {
                        add(symbols, i, name, found);
                    }
                }
            }
        }
        return found;
    }

    /** The function that holds an address; null where none does. */
    @Nullable Function functionAt(long address) throws MalformedInputException {
        for (ElfSymbols symbols : tables()) {
            for (int i = 0; i < symbols.count(); i++) {
                long into = address - symbols.value(i);
                if (isFunction(symbols, i)
                        && (into == 0 || Long.compareUnsigned(into, symbols.size(i)) < 0)) {
                    long start = elf.offsetOf(symbols.value(i));
                    if (start >= 0) {
                        return new Function(
                                plain(symbols.name(i)), symbols.value(i), symbols.size(i), start);
                    }
                }
            }
        }
        return null;
    }

    /** Its markers, by name. */
    Map<MarkerName, List<UsdtLocation>> markers() {
        return UsdtNotes.read(elf);
    }

    /** Where a line of its source is. */
    LineSearch.Answer line(SourceLinePlace place) throws MalformedInputException {
        return LineSearch.find(elf, place.file(), place.line(), place.column());
    }

    /** Where an address stands in the file; -1 for nowhere. */
    long fileOffset(long address) {
        return elf.offsetOf(address);
    }

    private List<ElfSymbols> tables() throws MalformedInputException {
        List<ElfSymbols> tables = new ArrayList<>(2);
        elf.symbols(ElfFile.SHT_SYMTAB).ifPresent(tables::add);
        elf.symbols(ElfFile.SHT_DYNSYM).ifPresent(tables::add);
        return tables;
    }

    private static boolean isFunction(ElfSymbols symbols, int index) {
        int type = symbols.type(index);
        return (type == ElfSymbols.STT_FUNC || type == ElfSymbols.STT_GNU_IFUNC)
                && symbols.section(index) != ElfSymbols.SHN_UNDEF
                && symbols.value(index) != 0;
    }

    private void add(ElfSymbols symbols, int index, String name, Map<String, Function> found) {
        long start = elf.offsetOf(symbols.value(index));
        if (start >= 0 && !name.isEmpty()) {
            found.put(name, new Function(name, symbols.value(index), symbols.size(index), start));
        }
    }

    /** Without a version: {@code malloc@@GLIBC_2.2.5}. */
    private static String plain(String name) {
        int at = name.indexOf('@');
        return at <= 0 ? name : name.substring(0, at);
    }

    /** {@code a::b(int) const}: without the last list in round brackets and what follows. */
    static String withoutParameters(String name) {
        int close = name.lastIndexOf(')');
        int open = 0;
        for (int i = close; i >= 0; i--) {
            open += name.charAt(i) == ')' ? 1 : name.charAt(i) == '(' ? -1 : 0;
            if (open == 0) {
                return i == 0 ? name : name.substring(0, i);
            }
        }
        return name;
    }

    /** Unmaps. */
    @Override
    public void close() {
        file.close();
    }
}
