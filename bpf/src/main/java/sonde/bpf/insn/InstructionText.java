package sonde.bpf.insn;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Instruction.AddressSpaceCast;
import sonde.bpf.insn.Instruction.Alu;
import sonde.bpf.insn.Instruction.Atomic;
import sonde.bpf.insn.Instruction.ByteOrderChange;
import sonde.bpf.insn.Instruction.ByteSwap;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.Instruction.Load;
import sonde.bpf.insn.Instruction.LoadAcquire;
import sonde.bpf.insn.Instruction.LoadPacket;
import sonde.bpf.insn.Instruction.LoadPacketIndexed;
import sonde.bpf.insn.Instruction.LoadSigned;
import sonde.bpf.insn.Instruction.LoadWide;
import sonde.bpf.insn.Instruction.Negate;
import sonde.bpf.insn.Instruction.PerCpuAddress;
import sonde.bpf.insn.Instruction.SignExtend;
import sonde.bpf.insn.Instruction.Store;
import sonde.bpf.insn.Instruction.StoreRelease;

/** Text of instructions that compute, load and store. */
final class InstructionText {
    /** {@code (u64 *)(r1 +16)}. */
    private record MemoryOperand(boolean signed, Width width, BpfRegister base, short offset) {}

    private static final AluOperation[] ALU = AluOperation.values();
    private static final JumpCondition[] CONDITIONS = JumpCondition.values();
    private static final AtomicOperation[] ATOMIC = AtomicOperation.values();

    private InstructionText() {}

    /** The instruction; null when it is a constant of two slots, or nothing known. */
    static @Nullable Instruction parse(LineScanner in) throws AssemblyException {
        if (in.takeWord("lock")) {
            return locked(in);
        }
        if (in.takeWord("store_release")) {
            in.expect("(");
            MemoryOperand place = unsignedPlace(in);
            in.expect(",");
            BpfRegister from = RegisterNames.wide(in);
            in.expect(")");
            return new StoreRelease(place.width(), place.base(), place.offset(), from);
        }
        if (in.take("*")) {
            MemoryOperand place = unsignedPlace(in);
            in.expect("=");
            InstructionOperand from = RegisterNames.operand(in, true);
            return new Store(place.width(), place.base(), place.offset(), from);
        }
        int start = in.mark();
        if (!RegisterNames.isName(in.word())) {
            in.back(start);
            throw in.error(in.rest() + " is not an instruction", hint(in));
        }
        in.back(start);
        boolean wide = RegisterNames.isWide(in);
        BpfRegister to = RegisterNames.any(in);
        AluOperation operation = operation(in);
        if (operation != AluOperation.MOVE) {
            return new Alu(operation, wide, to, RegisterNames.operand(in, wide));
        }
        Instruction assignment = wide ? assignWide(in, to) : assign(in, false, to);
        if (assignment == null) {
            in.back(start);
        }
        return assignment;
    }

    private static AluOperation operation(LineScanner in) throws AssemblyException {
        AluOperation longest = null;
        int start = in.mark();
        for (AluOperation operation : ALU) {
            in.back(start);
            if (in.take(operation.sign())
                    && (longest == null || operation.sign().length() > longest.sign().length())) {
                longest = operation;
            }
        }
        in.back(start);
        if (longest == null || longest == AluOperation.MOVE && in.take("==")) {
            in.back(start);
            throw in.error(
                    "an operation is missing before " + in.rest(),
                    "=, +=, -=, *=, /=, %=, &=, |=, ^=, <<=, >>=, s>>=, s/=, s%=");
        }
        in.take(longest.sign());
        return longest;
    }

    /** The longest comparison that is next. */
    static JumpCondition condition(LineScanner in) throws AssemblyException {
        JumpCondition longest = null;
        int start = in.mark();
        for (JumpCondition condition : CONDITIONS) {
            in.back(start);
            if (in.take(condition.sign())
                    && (longest == null || condition.sign().length() > longest.sign().length())) {
                longest = condition;
            }
        }
        in.back(start);
        if (longest == null) {
            throw in.error(
                    "a comparison is missing before " + in.rest(),
                    "==, !=, <, <=, >, >=, s<, s<=, s>, s>=, &");
        }
        in.take(longest.sign());
        return longest;
    }

    private static Instruction locked(LineScanner in) throws AssemblyException {
        in.expect("*");
        MemoryOperand place = unsignedPlace(in);
        for (AtomicOperation operation : ATOMIC) {
            if (!operation.fetches() && in.take(operation.sign())) {
                BpfRegister from = RegisterNames.wide(in);
                return new Atomic(
                        operation, atomicWidth(in, place), place.base(), place.offset(), from);
            }
        }
        throw in.error("an operation is missing before " + in.rest(), "+=, |=, &=, ^=");
    }

    private static Width atomicWidth(LineScanner in, MemoryOperand place) throws AssemblyException {
        if (place.width() != Width.U32 && place.width() != Width.U64) {
            throw in.error("atomic accesses are of u32 or u64", "");
        }
        return place.width();
    }

    /** What any width may be given; null when nothing of that is next. */
    private static @Nullable Instruction assign(LineScanner in, boolean wide, BpfRegister to)
            throws AssemblyException {
        if (in.atNumber()) {
            return new Alu(
                    AluOperation.MOVE, wide, to, new InstructionOperand.Immediate(in.immediate()));
        }
        if (in.take("-")) {
            BpfRegister from = RegisterNames.sized(in, wide);
            if (from != to) {
                throw in.error("a register is negated in its place", "r1 = -r1");
            }
            return new Negate(wide, to);
        }
        if (in.take("(s")) {
            int bits = (int) in.number(8, wide ? 32 : 16, "the width of the sign");
            if (bits != 8 && bits != 16 && bits != 32) {
                throw in.error("no sign has " + bits + " bits", "(s8), (s16) or (s32)");
            }
            in.expect(")");
            return new SignExtend(bits, wide, to, RegisterNames.sized(in, wide));
        }
        return new Alu(AluOperation.MOVE, wide, to, RegisterNames.sized(in, wide));
    }

    private static @Nullable Instruction assignWide(LineScanner in, BpfRegister to)
            throws AssemblyException {
        if (in.take("*")) {
            return load(in, to);
        }
        if (in.take("&")) {
            in.expect("(void __percpu *)(");
            BpfRegister from = RegisterNames.wide(in);
            in.expect(")");
            return new PerCpuAddress(to, from);
        }
        if (in.atHex()) {
            return null;
        }
        int start = in.mark();
        if (in.atNumber()) {
            long value = in.number();
            in.back(start);
            boolean narrow = value == (int) value && !ll(in);
            in.back(start);
            return narrow ? assign(in, true, to) : null;
        }
        String word = in.word();
        switch (word) {
            case "map", "subprog", "btf" -> {
                return null;
            }
            case "addr_space_cast" -> {
                return cast(in, to);
            }
            case "load_acquire" -> {
                in.expect("(");
                MemoryOperand place = unsignedPlace(in);
                in.expect(")");
                return new LoadAcquire(place.width(), to, place.base(), place.offset());
            }
            default -> {
                if (word.startsWith("atomic")) {
                    return fetch(in, to, word);
                }
                ByteSwap swap = swap(in, to, word);
                if (swap != null) {
                    return swap;
                }
                in.back(start);
                return assign(in, true, to);
            }
        }
    }

    /** LLVM's mark of a constant of two slots, behind a number. */
    private static boolean ll(LineScanner in) throws AssemblyException {
        in.number();
        return in.takeWord("ll");
    }

    private static Instruction cast(LineScanner in, BpfRegister to) throws AssemblyException {
        in.expect("(");
        BpfRegister from = RegisterNames.wide(in);
        in.expect(",");
        int toSpace = (int) in.number(0, 0xffff, "the address space");
        in.expect(",");
        int fromSpace = (int) in.number(0, 0xffff, "the address space");
        in.expect(")");
        return new AddressSpaceCast(to, from, toSpace, fromSpace);
    }

    private static @Nullable ByteSwap swap(LineScanner in, BpfRegister to, String word)
            throws AssemblyException {
        for (ByteOrderChange change : ByteOrderChange.values()) {
            for (int bits = 16; bits <= 64; bits *= 2) {
                if (word.equals(change.sign() + bits)) {
                    if (RegisterNames.wide(in) != to) {
                        throw in.error("bytes are swapped in their place", "r1 = be16 r1");
                    }
                    return new ByteSwap(change, bits, to);
                }
            }
        }
        return null;
    }

    /** {@code atomic64_fetch_add((u64 *)(r1 +0), r2)}. */
    private static Instruction fetch(LineScanner in, BpfRegister to, String word)
            throws AssemblyException {
        String name = word.startsWith("atomic64_") ? word.substring(9) : word.substring(6);
        name = name.startsWith("_") ? name.substring(1) : name;
        for (AtomicOperation operation : ATOMIC) {
            if (operation.fetches() && operation.sign().equals(name)) {
                in.expect("(");
                MemoryOperand place = unsignedPlace(in);
                Width width = atomicWidth(in, place);
                in.expect(",");
                BpfRegister result = RegisterNames.wide(in);
                BpfRegister from = result;
                if (operation == AtomicOperation.COMPARE_EXCHANGE) {
                    in.expect(",");
                    from = RegisterNames.wide(in);
                }
                in.expect(")");
                if (result != to
                        || operation == AtomicOperation.COMPARE_EXCHANGE && to != BpfRegister.R0) {
                    throw in.error(
                            "the register that is given takes the result",
                            "r2 = atomic64_fetch_add((u64 *)(r1 +0), r2);"
                                    + " r0 = atomic64_cmpxchg((u64 *)(r1 +0), r0, r2)");
                }
                return new Atomic(operation, width, place.base(), place.offset(), from);
            }
        }
        throw in.error(
                "no atomic operation is called " + word,
                "fetch_add, fetch_or, fetch_and, fetch_xor, xchg, cmpxchg");
    }

    private static Instruction load(LineScanner in, BpfRegister to) throws AssemblyException {
        int start = in.mark();
        in.expect("(");
        String type = type(in);
        in.expect("*");
        in.expect(")");
        if (in.takeWord("skb")) {
            Width width = width(type);
            if (to != BpfRegister.R0 || width == Width.U64 || type.charAt(0) != 'u') {
                throw in.error("packets are read into r0, as u8, u16 or u32", "");
            }
            in.expect("[");
            if (in.atNumber()) {
                int offset = in.immediate();
                in.expect("]");
                return new LoadPacket(width, offset);
            }
            BpfRegister index = RegisterNames.wide(in);
            in.take("+");
            int offset = in.immediate();
            in.expect("]");
            return new LoadPacketIndexed(width, index, offset);
        }
        in.back(start);
        MemoryOperand place = place(in);
        return place.signed()
                ? new LoadSigned(place.width(), to, place.base(), place.offset())
                : new Load(place.width(), to, place.base(), place.offset());
    }

    private static MemoryOperand unsignedPlace(LineScanner in) throws AssemblyException {
        MemoryOperand place = place(in);
        if (place.signed()) {
            throw in.error("only loads have a sign", "u8, u16, u32 or u64");
        }
        return place;
    }

    private static MemoryOperand place(LineScanner in) throws AssemblyException {
        in.expect("(");
        String type = type(in);
        Width width = width(type);
        in.expect("*");
        in.expect(")");
        in.expect("(");
        BpfRegister base = RegisterNames.wide(in);
        short offset = in.atNumber() ? in.offset() : 0;
        in.expect(")");
        boolean signed = type.charAt(0) == 's';
        if (signed && width == Width.U64) {
            throw in.error("64 bits need no sign", "u64");
        }
        return new MemoryOperand(signed, width, base, offset);
    }

    /** {@code u8} to {@code u64}, {@code s8} to {@code s64}. */
    private static String type(LineScanner in) throws AssemblyException {
        int start = in.mark();
        String type = in.word();
        if (!type.matches("[us](8|16|32|64)")) {
            in.back(start);
            throw in.error(
                    "a width is missing before " + in.rest(),
                    "u8, u16, u32, u64, and s8 to s32 in loads");
        }
        return type;
    }

    private static Width width(String type) {
        return Width.of(Integer.parseInt(type.substring(1)) / 8);
    }

    /** A constant of two slots; null when none is next. */
    static @Nullable LoadWide constant(LineScanner in, BpfRegister to) throws AssemblyException {
        if (in.atNumber()) {
            long value = in.number();
            in.takeWord("ll");
            return new LoadWide(ConstantMeaning.NUMBER, to, value);
        }
        if (in.takeWord("btf")) {
            long id = bracket(in, "id");
            long module = in.take("[fd:") ? closing(in) : 0;
            return new LoadWide(ConstantMeaning.BTF_ID, to, module << 32 | id);
        }
        if (!in.takeWord("map")) {
            return null;
        }
        in.expect("[");
        String kind = in.word();
        in.expect(":");
        if (!kind.equals("fd") && !kind.equals("id") && !kind.equals("idx")) {
            throw in.error("a map has no " + kind, "map[fd:5], map[id:5] or map[idx:0]");
        }
        long number = closing(in);
        boolean index = kind.equals("idx");
        if (in.take("[0]") || index && in.atNumber()) {
            long offset = in.atNumber() ? in.number(0, 0xffffffffL, "the offset") : 0;
            return new LoadWide(
                    index ? ConstantMeaning.MAP_INDEX_VALUE : ConstantMeaning.MAP_VALUE,
                    to,
                    offset << 32 | number);
        }
        return new LoadWide(index ? ConstantMeaning.MAP_INDEX : ConstantMeaning.MAP, to, number);
    }

    private static long bracket(LineScanner in, String word) throws AssemblyException {
        in.expect("[" + word + ":");
        return closing(in);
    }

    private static long closing(LineScanner in) throws AssemblyException {
        long number = in.number(0, 0xffffffffL, "the number");
        in.expect("]");
        return number;
    }

    /** What is usually meant by a line that begins so. */
    static String hint(LineScanner in) {
        int start = in.mark();
        String word = in.word();
        in.back(start);
        return switch (word) {
            case "mov", "add", "sub", "ldxdw", "stxdw", "jmp", "ja", "ld", "st", "ldx", "stx" ->
                    "the kernel's notation is meant: r1 = 5, r1 += r2, r1 = *(u64 *)(r2 +8)";
            case "return", "ret" -> "exit";
            case "lddw" -> "r1 = 0x123 takes two slots";
            default ->
                    word.startsWith("BUG_")
                            ? "the kernel prints so what it does not know; .word takes any 64 bits"
                            : "r1 = 5, *(u64 *)(r10 -8) = r1, if r1 != 0x0 goto out, call, exit";
        };
    }
}
