package sonde.binary.unwind;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSegment;
import sonde.binary.elf.ElfSymbols;

/**
 * Where functions of Go's run time change to another stack, which their call frame information says
 * nothing of, and where stacks of goroutines and threads begin, which it does not mark (Go's {@code
 * src/runtime/asm_*.s}, {@code sys_linux_*.s}; flags TOPFRAME and SPWRITE of {@code textflag.h}).
 */
final class GoStacks {
    private static final int MOST_FUNCTION_BYTES = 4096;

    /** No caller; of mcall, who called has nothing to do with what the scheduler does then. */
    private static final Set<String> OUTERMOST =
            Set.of(
                    "runtime.goexit",
                    "runtime.mstart",
                    "runtime.mcall",
                    "runtime.rt0_go",
                    "_rt0_amd64",
                    "_rt0_amd64_linux",
                    "_rt0_arm64_linux");

    /** To the stack of the thread, or from it. */
    private static final Set<String> SWITCHES =
            Set.of("runtime.systemstack", "runtime.morestack", "runtime.asmcgocall", "gogo");

    /** Call the vDSO with the stack of the thread, their own in a register that it keeps. */
    private static final Set<String> KEEPERS =
            Set.of("time.now", "runtime.nanotime1", "runtime.walltime", "runtime.vgetrandom1");

    /** Have the kernel's frame of a signal, which the trampoline's code tells. */
    private static final Set<String> TRAMPOLINES =
            Set.of("runtime.sigreturn", "runtime.sigreturn__sigaction");

    private enum Kind {
        OUTERMOST,
        SWITCH,
        KEEPER,
        TRAMPOLINE,
    }

    /** From where to where in the file's addresses something else holds. */
    private record GoRange(Kind kind, long from, long to) {}

    private final UnwindMachine machine;
    private final List<GoRange> parts = new ArrayList<>();
    private final FrameRule outermost;
    private final FrameRule left;

    private GoStacks(UnwindMachine machine) {
        this.machine = machine;
        int column = machine.returnColumn();
        outermost =
                new FrameRule.Builder(machine)
                        .cfa(machine.stackPointer(), 0)
                        .rule(column, FrameRule.UNDEFINED, 0)
                        .build();
        left = outermost.onStackAt(-1);
    }

    /** The stacks of a Go program; empty for others, and for one without symbols. */
    static Optional<GoStacks> of(UnwindMachine machine, ElfFile elf)
            throws MalformedInputException {
        boolean known = machine == UnwindMachine.X86_64 || machine == UnwindMachine.AARCH64;
        if (!known || elf.section(".note.go.buildid").isEmpty()) {
            return Optional.empty();
        }
        GoStacks stacks = new GoStacks(machine);
        Optional<ElfSymbols> symbols = elf.symbols(ElfFile.SHT_SYMTAB);
        for (int i = 0; symbols.isPresent() && i < symbols.get().count(); i++) {
            if (symbols.get().type(i) == ElfSymbols.STT_FUNC) {
                stacks.add(elf, symbols.get(), i);
            }
        }
        return stacks.parts.isEmpty() ? Optional.empty() : Optional.of(stacks);
    }

    private void add(ElfFile elf, ElfSymbols symbols, int index) throws MalformedInputException {
        String name = symbols.name(index);
        int dot = name.lastIndexOf(".abi");
        String plain = dot > 0 ? name.substring(0, dot) : name;
        long start = symbols.value(index);
        long size = Math.min(symbols.size(index), MOST_FUNCTION_BYTES);
        if (OUTERMOST.contains(plain)) {
            parts.add(new GoRange(Kind.OUTERMOST, start, start + size));
        } else if (TRAMPOLINES.contains(plain)) {
            parts.add(new GoRange(Kind.TRAMPOLINE, start, start + size));
        } else if (SWITCHES.contains(plain)) {
            between(Kind.SWITCH, start, code(elf, start, size));
        } else if (KEEPERS.contains(plain)) {
            between(Kind.KEEPER, start, code(elf, start, size));
        }
    }

    private static byte[] code(ElfFile elf, long address, long size)
            throws MalformedInputException {
        for (ElfSegment segment : elf.segments()) {
            long inside = address - segment.address();
            if (segment.isCode() && inside >= 0 && inside <= segment.fileBytes() - size) {
                return elf.content(segment).asSlice(inside, size).toArray(ValueLayout.JAVA_BYTE);
            }
        }
        return new byte[0];
    }

    /** From the first instruction that sets the stack pointer to the one that sets it back. */
    private void between(Kind kind, long start, byte[] code) {
        int first = -1;
        int last = code.length;
        int step = machine == UnwindMachine.AARCH64 ? 4 : 1;
        for (int at = 0; at < code.length; at += step) {
            int length = kind == Kind.KEEPER && first < 0 ? keeps(code, at) : sets(code, at);
            if (length > 0 && first < 0) {
                first = at + length;
            } else if (length > 0) {
                last = at + length;
            }
        }
        if (first >= 0) {
            parts.add(new GoRange(kind, start + first, start + last));
        }
    }

    /** Length of an instruction that moves something into the stack pointer; 0 of others. */
    private int sets(byte[] code, int at) {
        if (machine == UnwindMachine.AARCH64) {
            // add sp, Xn, #0
            return at + 4 <= code.length && (word(code, at) & 0xfffffc1f) == 0x9100001f ? 4 : 0;
        }
        if (at + 3 > code.length || (code[at] & 0xfa) != 0x48) {
            return 0; // REX.W, with any B
        }
        int operation = code[at + 1] & 0xff;
        int modes = code[at + 2] & 0xff;
        boolean from = operation == 0x89 && modes >= 0xc0 && (modes & 7) == 4;
        boolean to = operation == 0x8b && (modes >> 3 & 7) == 4;
        return from ? 3 : to ? 3 + (modes >= 0x40 && modes < 0x80 ? 1 : 0) : 0;
    }

    /** Length of {@code mov %rsp, %r12} and {@code mov x20, sp}; 0 of others. */
    private int keeps(byte[] code, int at) {
        if (machine == UnwindMachine.AARCH64) {
            return at + 4 <= code.length && word(code, at) == 0x910003f4 ? 4 : 0;
        }
        boolean is =
                at + 3 <= code.length
                        && code[at] == 0x49
                        && (code[at + 1] & 0xff) == 0x89
                        && (code[at + 2] & 0xff) == 0xe4;
        return is ? 3 : 0;
    }

    private static int word(byte[] code, int at) {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            value |= (code[at + i] & 0xff) << 8 * i;
        }
        return value;
    }

    /** Takes the {@link CompactRule} of a range of addresses. */
    interface RangeTaker {
        void range(long from, long to, int rule);
    }

    /** The ranges where call frame information is wrong. */
    void compact(RangeTaker taker) {
        for (GoRange part : parts) {
            switch (part.kind) {
                case OUTERMOST -> taker.range(part.from, part.to, CompactRule.Kind.END.ordinal());
                case SWITCH, KEEPER -> taker.range(part.from, part.to, CompactRule.UNFIT);
                // the frame's return address is the first byte: the byte before it is looked up
                case TRAMPOLINE ->
                        taker.range(part.from - 1, part.to, CompactRule.Kind.SIGNAL.ordinal());
            }
        }
    }

    /** The rule that holds at an address where call frame information has another. */
    @Nullable FrameRule find(long address, @Nullable FrameRule rule) {
        for (GoRange part : parts) {
            if (address >= part.from && address < part.to) {
                return switch (part.kind) {
                    case OUTERMOST -> outermost;
                    case SWITCH -> left;
                    case TRAMPOLINE -> null;
                    case KEEPER ->
                            rule == null
                                    ? left
                                    : rule.onStackAt(machine == UnwindMachine.AARCH64 ? 20 : 12);
                };
            }
        }
        return rule;
    }
}
