package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.unwind.CompactUnwindTable;

/**
 * Where a program's V8 keeps the names of functions: the numbers that it exports for debuggers as
 * {@code v8dbg_class_CLASS__FIELD__TYPE} (tools/gen-postmortem-metadata.py).
 *
 * @param code ranges of offsets in the file, from, to, from, to: functions of which one is below
 *     all frames of JavaScript
 */
record ScriptLayout(Map<ScriptNumber, Integer> numbers, List<Long> code) {
    private static final String PREFIX = "v8dbg_";
    private static final byte[] SOUGHT =
            "v8dbg_class_JSFunction__shared__SharedFunctionInfo"
                    .getBytes(StandardCharsets.US_ASCII);

    /**
     * Functions that call JavaScript: src/execution/execution.h, through which all of it is called,
     * and those of include/v8.h, where a build exports nothing else (Node 24).
     */
    private static final List<String> ENTRIES =
            List.of(
                    "_ZN2v88internal9Execution4CallE",
                    "_ZN2v88internal9Execution7TryCallE",
                    "_ZN2v88internal9Execution10CallScriptE",
                    "_ZN2v88internal9Execution16TryRunMicrotasksE",
                    "_ZN2v88Function4CallE",
                    "_ZN2v86Object14CallAsFunctionE",
                    "_ZN2v86Script3RunE",
                    "_ZN2v86Module8EvaluateE");

    private static final int INTERNAL_ENTRIES = 4;

    private static final int MOST_STRINGS = 32 << 20;
    private static final int MOST_NUMBER = 1 << 16;

    /** The numbers that are needed; lower case, they are the begins of the symbols' names. */
    enum ScriptNumber {
        CLASS_JSFUNCTION__SHARED__,
        CLASS_SHAREDFUNCTIONINFO__NAME_OR_SCOPE_INFO__,
        CLASS_SHAREDFUNCTIONINFO__SCRIPT,
        CLASS_SCRIPT__NAME__,
        CLASS_SCRIPT__SOURCE__,
        CLASS_HEAPOBJECT__MAP__,
        CLASS_MAP__INSTANCE_TYPE__,
        CLASS_STRING__LENGTH__,
        CLASS_SEQONEBYTESTRING__CHARS__,
        CLASS_SEQTWOBYTESTRING__CHARS__,
        CLASS_CONSSTRING__FIRST__,
        CLASS_CONSSTRING__SECOND__,
        CLASS_THINSTRING__ACTUAL__,
        TYPE_SCOPEINFO__,
        TYPE_SCRIPT__,
        TYPE_SHAREDFUNCTIONINFO__,
        FIRSTNONSTRINGTYPE,
        SCOPEINFO_IDX_FIRST_VARS
    }

    /** Looks for them; empty for a file without V8. */
    static Optional<ScriptLayout> in(ElfFile elf) {
        try {
            Optional<ElfSection> table =
                    elf.sections().stream()
                            .filter(one -> one.type() == ElfFile.SHT_DYNSYM)
                            .findFirst();
            if (table.isEmpty() || table.get().link() >= elf.sections().size()) {
                return Optional.empty();
            }
            ElfSection names = elf.sections().get(table.get().link());
            boolean mentions =
                    names.sizeBytes() <= MOST_STRINGS
                            && PythonFile.contains(elf.content(names), SOUGHT);
            return mentions ? in(elf, elf.symbols(table.get())) : Optional.empty();
        } catch (MalformedInputException e) {
            return Optional.empty();
        }
    }

    private static Optional<ScriptLayout> in(ElfFile elf, ElfSymbols symbols) {
        Map<ScriptNumber, Integer> found = new EnumMap<>(ScriptNumber.class);
        List<Long> code = new ArrayList<>();
        List<String> entries = entries(symbols);
        for (int i = 0; i < symbols.count(); i++) {
            String name = symbols.name(i);
            if (name.startsWith(PREFIX)) {
                String lower = name.substring(PREFIX.length()).toLowerCase(Locale.ROOT);
                for (ScriptNumber number : ScriptNumber.values()) {
                    if (lower.startsWith(number.name().toLowerCase(Locale.ROOT))) {
                        found.putIfAbsent(number, number(elf, symbols.value(i)));
                    }
                }
            } else if (entries.stream().anyMatch(name::startsWith)) {
                long offset = elf.offsetOf(symbols.value(i));
                if (offset >= 0 && symbols.size(i) > 0 && symbols.size(i) < MOST_NUMBER) {
                    code.add(offset);
                    code.add(offset + symbols.size(i));
                }
            }
        }
        boolean whole =
                found.size() == ScriptNumber.values().length
                        && found.values().stream().allMatch(v -> v >= 0 && v < MOST_NUMBER);
        return whole ? Optional.of(new ScriptLayout(found, code)) : Optional.empty();
    }

    private static List<String> entries(ElfSymbols symbols) {
        for (int i = 0; i < symbols.count(); i++) {
            if (symbols.name(i).startsWith(ENTRIES.getFirst())) {
                return ENTRIES.subList(0, INTERNAL_ENTRIES);
            }
        }
        return ENTRIES.subList(INTERNAL_ENTRIES, ENTRIES.size());
    }

    /** An int of a data section; 0 where the file has no bytes for it. */
    private static int number(ElfFile elf, long address) {
        for (ElfSection section : elf.sections()) {
            if (section.type() == ElfFile.SHT_PROGBITS && section.contains(address)) {
                try {
                    MemorySegment content = elf.content(section);
                    return content.get(JAVA_INT_UNALIGNED, address - section.address());
                } catch (MalformedInputException | IndexOutOfBoundsException e) {
                    return -1;
                }
            }
        }
        return 0;
    }

    int get(ScriptNumber number) {
        return numbers.getOrDefault(number, 0);
    }

    /** The rows of the file, with those functions marked. */
    CompactUnwindTable mark(CompactUnwindTable table) {
        CompactUnwindTable marked = table;
        for (int i = 0; i + 1 < code.size(); i += 2) {
            marked = marked.withInterpreter(code.get(i), code.get(i + 1));
        }
        return marked;
    }

    /** What programs in the kernel read of the file. */
    long[] programFields(int fileNumber) {
        long[] fields = new long[PythonLayout.FIELDS];
        fields[PythonLayout.LayoutField.ENTRY.ordinal()] = PythonLayout.ENGINE;
        int at = PythonLayout.LayoutField.CODE.ordinal();
        fields[at] = get(ScriptNumber.CLASS_JSFUNCTION__SHARED__);
        fields[at + 1] = get(ScriptNumber.CLASS_SHAREDFUNCTIONINFO__NAME_OR_SCOPE_INFO__);
        fields[at + 2] = fileNumber;
        return fields;
    }
}
