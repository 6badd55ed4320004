package sonde.probe.dynamic;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.probe.dynamic.FetchArgument.FetchNames;
import sonde.symbol.ctype.CallingConvention.ConventionMachine;

/**
 * Registers by DWARF's number (psABI of each machine, "DWARF Register Number Mapping"), as the
 * kernel names them in fetch arguments (arch/.../kernel/ptrace.c, regoffset_table).
 */
enum FetchRegisters implements FetchArgument.FetchNames {
    X86_64("ax dx cx bx si di bp sp r8 r9 r10 r11 r12 r13 r14 r15 ip", "di si dx cx r8 r9"),
    I386("ax cx dx bx sp bp si di ip", ""),
    AARCH64(numbered("x", 31) + " sp", numbered("x", 8)),
    RISCV64(
            "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10"
                    + " s11 t3 t4 t5 t6",
            "a0 a1 a2 a3 a4 a5 a6 a7");

    /** In regoffset_table too, beyond those that DWARF numbers. */
    private static final List<String> OTHERS =
            List.of(
                    "flags", "cs", "ss", "ds", "es", "fs", "gs", "orig_ax", "ip", "pc", "pstate",
                    "lr", "epc", "status", "badaddr", "cause", "orig_a0", "fp");

    private final String[] names;
    private final String[] arguments;

    FetchRegisters(String names, String arguments) {
        this.names = names.split(" ");
        this.arguments = arguments.split(" ");
    }

    private static String numbered(String letter, int count) {
        StringBuilder text = new StringBuilder(letter + 0);
        for (int i = 1; i < count; i++) {
            text.append(' ').append(letter).append(i);
        }
        return text.toString();
    }

    /** Those of a file's machine. */
    static Optional<FetchRegisters> of(ElfFile elf) {
        return switch (elf.machine()) {
            case ElfFile.EM_X86_64 -> Optional.of(X86_64);
            case ElfFile.EM_386 -> Optional.of(I386);
            case ElfFile.EM_AARCH64 -> Optional.of(AARCH64);
            case ElfFile.EM_RISCV -> elf.is64() ? Optional.of(RISCV64) : Optional.empty();
            default -> Optional.empty();
        };
    }

    /** The machine whose calling convention counts them; null where none does. */
    @Nullable ConventionMachine machine() {
        return switch (this) {
            case X86_64 -> ConventionMachine.X86_64;
            case I386 -> null;
            case AARCH64 -> ConventionMachine.AARCH64;
            case RISCV64 -> ConventionMachine.RISCV64;
        };
    }

    @Override
    public String register(int number) {
        return number >= 0 && number < names.length ? "%" + names[number] : "";
    }

    /** Empty for those on the stack. */
    @Override
    public String argument(int index) {
        return index >= 0 && index < arguments.length && !arguments[index].isEmpty()
                ? "%" + arguments[index]
                : "";
    }

    @Override
    public String spelled(String name) {
        return List.of(names).contains(name) || OTHERS.contains(name) ? "%" + name : "";
    }

    @Override
    public String unknown(String name) {
        String bare = name.replaceFirst("^[re](?=[a-z]{2}$)|(?<=^r\\d{1,2})[dwb]$|^w(?=\\d)", "");
        String word = List.of(names).contains(bare) ? bare : bare.replaceFirst("^(?=\\d)", "x");
        return "this CPU ("
                + name().toLowerCase(Locale.ROOT)
                + ") has no register that the kernel calls "
                + name
                + (List.of(names).contains(word) ? "; it calls it " + word : "")
                + "; there are "
                + String.join(" ", names);
    }

    /**
     * The same where only arguments are known, as they were at entry: of the function tracer, which
     * hands out no registers, and at returns (Documentation/trace/fprobetrace.rst).
     *
     * @param atEntry whether the stack is still that of the entry
     */
    FetchNames asArguments(boolean atEntry) {
        return new RegisterArguments(this, atEntry);
    }

    private record RegisterArguments(FetchRegisters registers, boolean atEntry)
            implements FetchArgument.FetchNames {
        @Override
        public String register(int number) {
            String name = registers.register(number);
            return name.isEmpty() ? "" : spelled(name.substring(1));
        }

        @Override
        public String argument(int index) {
            return "$arg" + (index + 1);
        }

        @Override
        public String spelled(String name) {
            int index = List.of(registers.arguments).indexOf(name);
            return index >= 0 ? argument(index) : atEntry && name.equals("sp") ? "$stack" : "";
        }
    }
}
