package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.unwind.CompactUnwindTable;
import sonde.binary.unwind.UnwindTable;

/**
 * A program or library that has CPython in it.
 *
 * @param layout null when its version is not known
 * @param version {@code "3.11"}, or what is known of it
 * @param code ranges of offsets in the file: {@code _PyEval_EvalFrameDefault} and its part that
 *     compilers put elsewhere; from, to, from, to
 */
record PythonFile(@Nullable PythonLayout layout, String version, List<Long> code) {
    private static final String EVALUATION = "_PyEval_EvalFrameDefault";
    private static final String STATE = "_PyRuntime";
    private static final byte[] SOUGHT = (EVALUATION + "\0").getBytes(StandardCharsets.US_ASCII);
    private static final Pattern NAMED = Pattern.compile("python(3\\.\\d{1,2})");
    private static final int MOST_STRINGS = 8 << 20;
    private static final int MOST_CODE = 1 << 20;
    private static final int STATE_BYTES = 512;

    /** Jumps into the part elsewhere: fewer are none. */
    private static final int FEWEST_JUMPS = 8;

    /**
     * Looks for it.
     *
     * @param path of the file, which may name the version
     * @param withCode whether the ranges of its code are wanted
     */
    static Optional<PythonFile> in(ElfFile elf, String path, boolean withCode) {
        try {
            for (int type : new int[] {ElfFile.SHT_DYNSYM, ElfFile.SHT_SYMTAB}) {
                Optional<ElfSymbols> symbols =
                        mentions(elf, type) ? elf.symbols(type) : Optional.empty();
                if (symbols.isPresent()) {
                    Optional<PythonFile> found = in(elf, symbols.get(), path, withCode);
                    if (found.isPresent()) {
                        return found;
                    }
                }
            }
        } catch (MalformedInputException e) {
            // It has no Python that can be told from others.
        }
        return Optional.empty();
    }

    /** The rows of the file, with those of the interpreter marked. */
    CompactUnwindTable mark(CompactUnwindTable table) {
        CompactUnwindTable marked = table;
        for (int i = 0; i + 1 < code.size(); i += 2) {
            marked = marked.withInterpreter(code.get(i), code.get(i + 1));
        }
        return marked;
    }

    /** Whether the names of a symbol table have that of the function. */
    private static boolean mentions(ElfFile elf, int type) throws MalformedInputException {
        for (ElfSection table : elf.sections()) {
            if (table.type() == type && table.link() < elf.sections().size()) {
                ElfSection names = elf.sections().get(table.link());
                return names.sizeBytes() <= MOST_STRINGS && contains(elf.content(names));
            }
        }
        return false;
    }

    private static boolean contains(MemorySegment names) {
        byte[] all = names.toArray(JAVA_BYTE);
        for (int i = 0; i + SOUGHT.length <= all.length; i++) {
            if (all[i] == '_'
                    && all[i + 1] == 'P'
                    && all[i + 4] == 'v'
                    && Arrays.equals(all, i, i + SOUGHT.length, SOUGHT, 0, SOUGHT.length)) {
                return true;
            }
        }
        return false;
    }

    private static Optional<PythonFile> in(
            ElfFile elf, ElfSymbols symbols, String path, boolean withCode)
            throws MalformedInputException {
        int evaluation = -1;
        int state = -1;
        int number = -1;
        for (int i = 0; i < symbols.count(); i++) {
            if (symbols.section(i) == ElfSymbols.SHN_UNDEF || symbols.value(i) == 0) {
                continue;
            }
            switch (symbols.name(i)) {
                case EVALUATION -> evaluation = i;
                case STATE -> state = i;
                case "Py_Version" -> number = i;
                default -> {
                    // another one
                }
            }
        }
        long start = evaluation < 0 ? 0 : symbols.value(evaluation);
        long size = evaluation < 0 ? 0 : symbols.size(evaluation);
        long offset = elf.offsetOf(start);
        if (state < 0 || size <= 0 || size > MOST_CODE || offset < 0) {
            return Optional.empty();
        }
        String version = version(elf, number < 0 ? 0 : symbols.value(number), path);
        long runtime = symbols.value(state);
        PythonLayout layout =
                PythonLayout.of(version, runtime - (start - offset), bytes(elf, runtime));
        List<Long> code = new ArrayList<>();
        if (withCode && layout != null) {
            code.addAll(List.of(offset, offset + size));
            code.addAll(elsewhere(elf, start, size));
        }
        return Optional.of(new PythonFile(layout, version, code));
    }

    private static String version(ElfFile elf, long address, String path) {
        MemorySegment stated = address == 0 ? MemorySegment.NULL : bytes(elf, address);
        if (stated.byteSize() >= 4) {
            int hex = stated.get(JAVA_INT_UNALIGNED, 0);
            return (hex >>> 24) + "." + (hex >>> 16 & 0xff);
        }
        Matcher named = NAMED.matcher(path);
        return named.find() ? named.group(1) : "";
    }

    /** What the file has for an address; empty for none. */
    private static MemorySegment bytes(ElfFile elf, long address) {
        try {
            for (ElfSection section : elf.sections()) {
                if (section.type() == ElfFile.SHT_PROGBITS && section.contains(address)) {
                    MemorySegment all = elf.content(section);
                    long at = address - section.address();
                    return all.asSlice(at, Math.min(STATE_BYTES, all.byteSize() - at));
                }
            }
        } catch (IOException | IndexOutOfBoundsException e) {
            // as if it were not there
        }
        return MemorySegment.NULL;
    }

    /**
     * The part of the function that a compiler put elsewhere (.cold), which has no exported name:
     * the function with call frame information into which most jumps lead.
     */
    private static List<Long> elsewhere(ElfFile elf, long start, long size)
            throws MalformedInputException {
        Optional<UnwindTable> rules = UnwindTable.of(elf);
        Optional<ElfSection> text =
                elf.sections().stream()
                        .filter(one -> one.isExecutable() && one.contains(start))
                        .findFirst();
        if (rules.isEmpty() || text.isEmpty()) {
            return List.of();
        }
        MemorySegment content = elf.content(text.get());
        long[] targets = jumps(content, start - text.get().address(), size, start);
        Arrays.sort(targets);
        long[] best = {0, 0, FEWEST_JUMPS - 1};
        long[] last = {-1};
        rules.get()
                .each((section, function, bytes, address, rule) -> {
                    if (function != last[0] && function != start) {
                        last[0] = function;
                        long inside = below(targets, function + bytes) - below(targets, function);
                        if (inside > best[2] && elf.isCode(function)) {
                            best[0] = function;
                            best[1] = bytes;
                            best[2] = inside;
                        }
                    }
                });
        long offset = best[1] == 0 ? -1 : elf.offsetOf(best[0]);
        return offset < 0 ? List.of() : List.of(offset, offset + best[1]);
    }

    private static int below(long[] sorted, long limit) {
        int at = Arrays.binarySearch(sorted, limit);
        while (at > 0 && sorted[at - 1] == limit) {
            at--;
        }
        return at < 0 ? -at - 1 : at;
    }

    /** Targets outside of the function of its jumps: 0f 8x and e9 with a distance of 4 bytes. */
    private static long[] jumps(MemorySegment text, long from, long size, long start) {
        long end = Math.min(from + size, text.byteSize()) - 6;
        long[] found = new long[1024];
        int count = 0;
        for (long at = Math.max(0, from); at < end && count < MOST_CODE; at++) {
            int first = text.get(JAVA_BYTE, at) & 0xff;
            boolean conditional = first == 0x0f && (text.get(JAVA_BYTE, at + 1) & 0xf0) == 0x80;
            if (conditional || first == 0xe9) {
                int bytes = conditional ? 6 : 5;
                long next = start + (at - from) + bytes;
                long target = next + text.get(JAVA_INT_UNALIGNED, at + bytes - 4);
                if (target < start || target >= start + size) {
                    if (count == found.length) {
                        found = Arrays.copyOf(found, 2 * count);
                    }
                    found[count++] = target;
                }
            }
        }
        return Arrays.copyOf(found, count);
    }
}
