package sonde.recording.perfdata;

import java.util.EnumSet;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.recording.ftrace.CodeNames;
import sonde.recording.ftrace.CodeNames.ListedCode;
import sonde.recording.ftrace.ListedFields.ListedField;
import sonde.recording.ftrace.TextBuffer;

/**
 * The parts of samples that {@code perf script} shows only when asked: names of data, registers,
 * branches (tools/perf/builtin-script.c, 6.1).
 */
final class ScriptParts {
    // arch/x86/include/uapi/asm/perf_regs.h, arch/arm64/include/uapi/asm/perf_regs.h
    private static final String[] X86 = {
        "AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS",
        "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"
    };

    // branch_type_name of tools/perf/util/branch.c; 0 is left out
    private static final String[] BRANCHES = {
        "",
        "COND",
        "UNCOND",
        "IND",
        "CALL",
        "IND_CALL",
        "RET",
        "SYSCALL",
        "SYSRET",
        "COND_CALL",
        "COND_RET",
        "ERET",
        "IRQ",
        "SERROR",
        "NO_TX"
    };

    private final EnumSet<ListedField> shown;
    private final EnumSet<ListedField> absent = EnumSet.noneOf(ListedField.class);
    private final CodeNames symbols;
    private final boolean dataIsNamed;
    private final String arch;
    private final long userMask;
    private final long interruptMask;
    private final @Nullable RegisterFields user;
    private final @Nullable RegisterFields interrupt;
    private final @Nullable Branches branches;

    private record RegisterFields(IntegerField abi, Field values) {}

    private record Branches(Field from, Field to, Field flags) {}

    ScriptParts(
            EnumSet<ListedField> shown,
            PerfAttr attr,
            EventType type,
            String arch,
            CodeNames symbols) {
        this.shown = shown;
        this.symbols = symbols;
        this.arch = arch;
        this.userMask = attr.sampleRegsUser();
        this.interruptMask = attr.sampleRegsIntr();
        this.dataIsNamed =
                shown.contains(ListedField.ADDR)
                        && (shown.contains(ListedField.SYM) || shown.contains(ListedField.DSO))
                        && isFault(attr);
        interrupt = registers(type, "intr_regs", ListedField.IREGS);
        user = registers(type, "user_regs", ListedField.UREGS);
        Field from = type.field("branch_from").orElse(null);
        Field to = type.field("branch_to").orElse(null);
        Field flags = type.field("branch_flags").orElse(null);
        branches =
                from != null && to != null && flags != null && shown.contains(ListedField.BRSTACK)
                        ? new Branches(from, to, flags)
                        : null;
        note(ListedField.BRSTACK, branches);
        for (ListedField name :
                EnumSet.of(
                        ListedField.ADDR,
                        ListedField.DATA_SRC,
                        ListedField.WEIGHT,
                        ListedField.INS_LAT,
                        ListedField.PHYS_ADDR,
                        ListedField.DATA_PAGE_SIZE,
                        ListedField.CODE_PAGE_SIZE)) {
            note(name, type.field(name.word()).orElse(null));
        }
    }

    private void note(ListedField name, @Nullable Object part) {
        if (shown.contains(name) && part == null) {
            absent.add(name);
        }
    }

    private @Nullable RegisterFields registers(EventType type, String field, ListedField name) {
        Field abi = type.field(field + "_abi").orElse(null);
        Field values = type.field(field).orElse(null);
        RegisterFields registers =
                abi != null && values != null && shown.contains(name)
                        ? new RegisterFields(IntegerField.of(abi), values)
                        : null;
        note(name, registers);
        return registers;
    }

    /** sample_addr_correlates_sym: the addresses of page faults are looked up. */
    private static boolean isFault(PerfAttr attr) {
        return attr.type() == PerfAbi.PERF_TYPE_SOFTWARE
                && (attr.config() == PerfAbi.PERF_COUNT_SW_PAGE_FAULTS
                        || attr.config() == PerfAbi.PERF_COUNT_SW_PAGE_FAULTS_MIN
                        || attr.config() == PerfAbi.PERF_COUNT_SW_PAGE_FAULTS_MAJ);
    }

    /** Fields asked for that samples of the type do not have. */
    EnumSet<ListedField> absent() {
        return absent;
    }

    /** Whether data, or what is no call chain, is looked up. */
    boolean namesCode() {
        return dataIsNamed || branches != null && shown.contains(ListedField.DSO);
    }

    /** What lies at the address of data, for page faults. */
    void data(TextBuffer out, Batch batch, int row, IntegerField address) {
        if (dataIsNamed) {
            symbols.code(batch.pid(row), address.of(batch, row)).append(out, shown);
        }
    }

    /** Registers and branches. */
    void append(TextBuffer out, Batch batch, int row) {
        registers(out, batch, row, interrupt, interruptMask);
        registers(out, batch, row, user, userMask);
        Branches of = branches;
        if (of == null) {
            return;
        }
        int count = of.from.sizeBytes(batch, row) / 8;
        for (int i = 0; i < count; i++) {
            out.put(' ');
            end(out, batch, row, word(batch, row, of.from, i));
            out.put('/');
            end(out, batch, row, word(batch, row, of.to, i));
            flags(out, word(batch, row, of.flags, i));
        }
    }

    private static long word(Batch batch, int row, Field field, int index) {
        return batch.u64(row, field.offset(batch, row) + 8 * index);
    }

    private void end(TextBuffer out, Batch batch, int row, long address) {
        out.put("0x").hex(address, 1);
        if (shown.contains(ListedField.DSO)) {
            ListedCode code = symbols.code(batch.pid(row), address);
            out.put('(').put(code.file()).put(')');
        }
    }

    /** print_bstack_flags: mispredicted or predicted, in a transaction, aborted, cycles. */
    private static void flags(TextBuffer out, long flags) {
        out.put('/').put((flags & 1) != 0 ? 'M' : (flags & 2) != 0 ? 'P' : '-');
        out.put('/').put((flags & 4) != 0 ? 'X' : '-');
        out.put('/').put((flags & 8) != 0 ? 'A' : '-');
        out.put('/').decimal(flags >>> 4 & 0xffff).put('/');
        int type = (int) (flags >>> 20 & 15);
        out.put(type < BRANCHES.length ? BRANCHES[type] : "").put(' ');
    }

    private void registers(
            TextBuffer out, Batch batch, int row, @Nullable RegisterFields registers, long mask) {
        if (registers == null || registers.values.sizeBytes(batch, row) == 0) {
            return;
        }
        out.put(" ABI:").unsigned(registers.abi.of(batch, row)).put(' ');
        int count = registers.values.sizeBytes(batch, row) / 8;
        int index = 0;
        for (int bit = 0; bit < 64 && index < count; bit++) {
            if ((mask >>> bit & 1) != 0) {
                int start = out.size();
                out.put(register(bit)).pad(start, 5, false);
                out.put(":0x").hex(word(batch, row, registers.values, index++), 1).put(' ');
            }
        }
    }

    private String register(int bit) {
        boolean x86 = arch.isEmpty() || arch.matches("x86_64|i[3-6]86");
        if (x86 && bit < X86.length) {
            return X86[bit];
        }
        if (arch.equals("aarch64")) {
            return switch (bit) {
                case 29 -> "x29";
                case 30 -> "lr";
                case 31 -> "sp";
                case 32 -> "pc";
                default -> "x" + bit;
            };
        }
        return x86 && bit >= 32 ? "XMM" + (bit - 32) / 2 : "r" + bit;
    }
}
