package sonde.symbol;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntToLongFunction;
import sonde.binary.AddressOrder;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSymbols;

/**
 * Functions of one ELF file as disjoint intervals: a binary search in one array of starts answers.
 *
 * <p>Where symbols overlap, the one that begins last wins; a symbol without a size reaches to the
 * next one or the end of its section, but not into a symbol that has a size. Among symbols of one
 * address the choice is: function before untyped, sized before unsized, global before weak before
 * local, fewer leading underscores, longer name.
 */
public final class FunctionTable {
    private static final int NONE = -1;

    private final ElfSymbols symbols;
    private final long[] starts;
    private final int[] functions;
    private final Aliases aliases;

    /** Which of several names of one address is taken. */
    public enum Aliases {
        /** The name programs link to: global before weak before local, without its version. */
        LINKED,
        /** As perf (choose_best_symbol): global before local before weak, with its version. */
        PERF,
    }

    private FunctionTable(ElfSymbols symbols, long[] starts, int[] functions, Aliases aliases) {
        this.aliases = aliases;
        this.symbols = symbols;
        this.starts = starts;
        this.functions = functions;
    }

    /** Builds the table of the functions that {@code symbols} of {@code elf} state. */
    public static FunctionTable of(ElfFile elf, ElfSymbols symbols) {
        return of(elf, symbols, Aliases.LINKED);
    }

    /** As above, with a choice among names of one address. */
    public static FunctionTable of(ElfFile elf, ElfSymbols symbols, Aliases aliases) {
        return new Builder(elf, symbols, aliases, _ -> 0).build();
    }

    /**
     * The functions of a file that is not linked, so that its sections are given addresses.
     *
     * @param bases where a section begins, by its index
     */
    public static FunctionTable of(ElfFile elf, ElfSymbols symbols, IntToLongFunction bases) {
        return new Builder(elf, symbols, Aliases.LINKED, bases).build();
    }

    /** Index of the symbol that holds an address as stated in the ELF, -1 when none does. */
    public int find(long elfAddress) {
        int at = AddressOrder.floor(starts, starts.length, elfAddress);
        return at < 0 ? NONE : functions[at];
    }

    /** Name as it stands in the file, without its version. */
    public String name(int symbol) {
        String name = symbols.name(symbol);
        if (aliases == Aliases.PERF) {
            return name;
        }
        int at = name.indexOf('@');
        return at > 0 ? name.substring(0, at) : name;
    }

    /** Whether a name is one of C++ or Rust that a compiler spelled for the linker. */
    public boolean isMangled(int symbol) {
        int name = symbols.nameOffset(symbol);
        byte second = symbols.stringByte(name) == '_' ? symbols.stringByte(name + 1) : 0;
        return second == 'Z' || second == 'R';
    }

    /** Start of a symbol as stated in the ELF. */
    public long address(int symbol) {
        return symbols.value(symbol);
    }

    /** Number of symbols in the table it was built from. */
    public int symbolCount() {
        return symbols.count();
    }

    /** Number of intervals. */
    public int intervalCount() {
        return starts.length;
    }

    private static final class Builder {
        private final ElfSymbols symbols;
        private final Aliases aliases;
        private final IntToLongFunction bases;
        private final boolean[] executable;
        private final long[] sectionEnds;
        private final boolean thumb;
        private long[] starts = new long[64];
        private int[] functions = new int[64];
        private int count;

        Builder(ElfFile elf, ElfSymbols symbols, Aliases aliases, IntToLongFunction bases) {
            this.aliases = aliases;
            this.bases = bases;
            this.symbols = symbols;
            this.thumb = elf.machine() == ElfFile.EM_ARM;
            List<ElfSection> sections = elf.sections();
            executable = new boolean[sections.size()];
            sectionEnds = new long[sections.size()];
            for (int i = 0; i < executable.length; i++) {
                executable[i] = sections.get(i).isExecutable();
                ElfSection section = sections.get(i);
                sectionEnds[i] = bases.applyAsLong(i) + section.address() + section.sizeBytes();
            }
        }

        FunctionTable build() {
            int[] chosen = new int[symbols.count()];
            long[] addresses = new long[symbols.count()];
            int found = 0;
            for (int i = 1; i < chosen.length; i++) {
                if (isCode(i)) {
                    chosen[found] = i;
                    addresses[found++] = address(i);
                }
            }
            int[] order = AddressOrder.of(addresses, found);
            Sweep sweep = new Sweep(this);
            for (int i = 0; i < found; ) {
                long start = addresses[order[i]];
                int best = chosen[order[i]];
                for (i++; i < found && addresses[order[i]] == start; i++) {
                    best = better(best, chosen[order[i]]);
                }
                sweep.add(best, start);
            }
            sweep.finish();
            return new FunctionTable(
                    symbols,
                    Arrays.copyOf(starts, count),
                    Arrays.copyOf(functions, count),
                    aliases);
        }

        private long address(int symbol) {
            long value = symbols.value(symbol);
            return bases.applyAsLong(symbols.section(symbol)) + (thumb ? value & ~1L : value);
        }

        private boolean isCode(int symbol) {
            int section = symbols.section(symbol);
            if (section <= 0 || section >= executable.length || !executable[section]) {
                return false;
            }
            return switch (symbols.type(symbol)) {
                case ElfSymbols.STT_FUNC, ElfSymbols.STT_GNU_IFUNC -> true;
                case ElfSymbols.STT_NOTYPE -> isLabel(symbols.nameOffset(symbol));
                default -> false;
            };
        }

        /** Not a mapping symbol of ARM or RISC-V ($x, $d…) nor an assembler's own label. */
        private boolean isLabel(int name) {
            byte first = symbols.stringByte(name);
            return first != 0
                    && first != '$'
                    && (first != '.' || symbols.stringByte(name + 1) != 'L');
        }

        private int better(int a, int b) {
            int order = Integer.compare(rank(a), rank(b));
            if (order == 0) {
                order = Integer.compare(underscores(b), underscores(a));
            }
            if (order == 0) {
                order =
                        Integer.compare(
                                symbols.stringLength(symbols.nameOffset(a)),
                                symbols.stringLength(symbols.nameOffset(b)));
            }
            return order >= 0 ? a : b;
        }

        private int rank(int symbol) {
            int type = symbols.type(symbol) == ElfSymbols.STT_NOTYPE ? 0 : 16;
            int size = symbols.size(symbol) == 0 ? 0 : 8;
            return type
                    + size
                    + switch (symbols.binding(symbol)) {
                        case ElfSymbols.STB_LOCAL -> aliases == Aliases.PERF ? 1 : 0;
                        case ElfSymbols.STB_WEAK -> aliases == Aliases.PERF ? 0 : 1;
                        default -> 2;
                    };
        }

        private int underscores(int symbol) {
            int name = symbols.nameOffset(symbol);
            int length = 0;
            while (length < 16 && symbols.stringByte(name + length) == '_') {
                length++;
            }
            return length;
        }

        void emit(long start, int symbol) {
            if (count > 0 && starts[count - 1] == start) {
                functions[count - 1] = symbol;
                return;
            }
            if (count > 0 && functions[count - 1] == symbol) {
                return;
            }
            if (count == starts.length) {
                starts = Arrays.copyOf(starts, 2 * count);
                functions = Arrays.copyOf(functions, 2 * count);
            }
            starts[count] = start;
            functions[count++] = symbol;
        }
    }

    /** Goes over symbols in ascending order and cuts overlapping ones into disjoint intervals. */
    private static final class Sweep {
        /** Deeper nesting than this is not kept: the outermost ones are forgotten. */
        private static final int DEPTH = 64;

        private final Builder out;
        private final long[] ends = new long[DEPTH];
        private final int[] owners = new int[DEPTH];
        private int depth;
        private long openEnd;
        private boolean open;

        Sweep(Builder out) {
            this.out = out;
        }

        void add(int symbol, long start) {
            closeUpTo(start);
            long size = out.symbols.size(symbol);
            if (size <= 0) {
                long sectionEnd = out.sectionEnds[out.symbols.section(symbol)];
                // One that marks the end of its section, as etext, holds nothing.
                if (depth == 0 && Long.compareUnsigned(sectionEnd, start) > 0) {
                    out.emit(start, symbol);
                    openEnd = sectionEnd;
                    open = true;
                }
                return;
            }
            open = false;
            long end = start + size;
            if (Long.compareUnsigned(end, start) < 0) {
                end = -1;
            }
            out.emit(start, symbol);
            if (depth == DEPTH) {
                System.arraycopy(ends, 1, ends, 0, DEPTH - 1);
                System.arraycopy(owners, 1, owners, 0, DEPTH - 1);
                depth--;
            }
            ends[depth] = end;
            owners[depth++] = symbol;
        }

        void finish() {
            closeUpTo(-1);
        }

        private void closeUpTo(long limit) {
            if (open && Long.compareUnsigned(openEnd, limit) <= 0) {
                out.emit(openEnd, NONE);
                open = false;
            }
            while (depth > 0 && Long.compareUnsigned(ends[depth - 1], limit) <= 0) {
                long end = ends[--depth];
                while (depth > 0 && Long.compareUnsigned(ends[depth - 1], end) <= 0) {
                    depth--;
                }
                out.emit(end, depth > 0 ? owners[depth - 1] : NONE);
            }
        }
    }
}
