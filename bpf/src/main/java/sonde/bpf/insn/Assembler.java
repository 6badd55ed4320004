package sonde.bpf.insn;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Instruction.Branch;
import sonde.bpf.insn.Instruction.CallHelperFunction;
import sonde.bpf.insn.Instruction.CallKernel;
import sonde.bpf.insn.Instruction.CallLocal;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.Instruction.Exit;
import sonde.bpf.insn.Instruction.Goto;
import sonde.bpf.insn.Instruction.GotoLong;
import sonde.bpf.insn.Instruction.GotoRegister;
import sonde.bpf.insn.Instruction.LoadWide;
import sonde.bpf.insn.Instruction.MayGoto;
import sonde.bpf.insn.Instruction.NoSpeculation;
import sonde.bpf.insn.Instruction.UnknownInstruction;

/**
 * Programs from text, an instruction a line, written as the kernel prints them. Lines of {@link
 * Disassembler}, of the verifier's log and of {@code bpftool prog dump xlated} may keep their slot
 * numbers and opcodes, which are passed over. In addition:
 *
 * <ul>
 *   <li>{@code name:} is a place, {@code goto name}, {@code if … goto name}, {@code call name} and
 *       {@code subprog[name]} go there;
 *   <li>{@code ;} and {@code //} begin a comment;
 *   <li>{@code call bpf_ktime_get_ns} needs no number;
 *   <li>{@code .word 0x95} is any word of 64 bits.
 * </ul>
 *
 * <p>A number in hexadecimal given to a 64-bit register takes two slots, one in decimal only when
 * it needs them: so the kernel prints the two instructions.
 */
public final class Assembler {
    private final CodeBuilder code = new CodeBuilder();
    private final Map<String, Label> labels = new HashMap<>();
    private final Map<String, AssemblyException> unbound = new LinkedHashMap<>();
    private final Map<String, Integer> bound = new HashMap<>();

    private Assembler() {}

    /**
     * The program; {@link ProgramCode#stepAt} tells the line of each instruction.
     *
     * @throws AssemblyException at the first line that is none
     */
    public static ProgramCode assemble(String text) throws AssemblyException {
        Assembler assembler = new Assembler();
        List<String> lines = text.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            assembler.line(lines.get(i), i + 1);
        }
        for (AssemblyException missing : assembler.unbound.values()) {
            throw missing;
        }
        try {
            return assembler.code.build();
        } catch (IllegalStateException e) {
            String problem = String.valueOf(e.getMessage());
            throw new AssemblyException(
                    lines.size(), 1, "a jump is too far: " + problem, "gotol reaches farther");
        }
    }

    private void line(String line, int number) throws AssemblyException {
        LineScanner in = new LineScanner(withoutComment(line), number);
        code.step("line " + number);
        prefix(in);
        while (label(in, number)) {
            // several places may be one
        }
        if (!in.atEnd()) {
            statement(in);
            in.expectEnd();
        }
    }

    private static String withoutComment(String line) {
        int end = line.length();
        int semicolon = line.indexOf(';');
        int slashes = line.indexOf("//");
        if (semicolon >= 0) {
            end = semicolon;
        }
        return line.substring(0, slashes >= 0 && slashes < end ? slashes : end);
    }

    /** {@code 12: (b7)} of listings. */
    private static void prefix(LineScanner in) throws AssemblyException {
        int start = in.mark();
        if (in.atNumber()) {
            in.number();
            if (!in.take(":")) {
                in.back(start);
                throw in.error("an instruction does not begin with a number", "");
            }
            if (in.take("(")) {
                opcode(in);
            }
        }
    }

    private static void opcode(LineScanner in) throws AssemblyException {
        int digits = 0;
        while (!in.take(")")) {
            if (digits++ == 2 || !in.takeHexDigit()) {
                throw in.error("an opcode has two hexadecimal digits", "as in (b7)");
            }
        }
    }

    private boolean label(LineScanner in, int line) throws AssemblyException {
        int start = in.mark();
        String name = in.word();
        if (name.isEmpty() || !in.take(":")) {
            in.back(start);
            return false;
        }
        if (RegisterNames.isName(name)) {
            in.back(start);
            throw in.error("a place cannot be called " + name, "that is a register");
        }
        Integer before = bound.putIfAbsent(name, line);
        if (before != null) {
            in.back(start);
            throw in.error(name + " is already the place in line " + before, "");
        }
        unbound.remove(name);
        code.at(place(name));
        return true;
    }

    private Label place(String name) {
        return labels.computeIfAbsent(name, Label::new);
    }

    private void statement(LineScanner in) throws AssemblyException {
        int start = in.mark();
        String word = in.word();
        switch (word) {
            case "exit" -> code.add(new Exit());
            case "nospec" -> code.add(new NoSpeculation());
            case "if" -> branch(in);
            case "goto", "gotol", "may_goto" -> jump(in, word);
            case "gotox" -> code.add(new GotoRegister(RegisterNames.wide(in)));
            case "call" -> call(in);
            case ".word" -> code.add(new UnknownInstruction(in.number()));
            default -> {
                in.back(start);
                Instruction other = InstructionText.parse(in);
                if (other != null) {
                    code.add(other);
                } else {
                    constant(in);
                }
            }
        }
    }

    private void branch(LineScanner in) throws AssemblyException {
        boolean wide = RegisterNames.isWide(in);
        BpfRegister left = RegisterNames.any(in);
        JumpCondition condition = InstructionText.condition(in);
        InstructionOperand right = RegisterNames.operand(in, wide);
        if (!in.takeWord("goto")) {
            throw in.error("'goto' is missing before " + in.rest(), "if r1 == 0x0 goto pc+1");
        }
        JumpTarget target = target(in, Short.MIN_VALUE, Short.MAX_VALUE);
        add(target, new Branch(condition, wide, left, right, (short) target.offset()));
    }

    private void jump(LineScanner in, String kind) throws AssemblyException {
        if (kind.equals("gotol")) {
            JumpTarget target = target(in, Integer.MIN_VALUE, Integer.MAX_VALUE);
            add(target, new GotoLong(target.offset()));
            return;
        }
        JumpTarget target = target(in, Short.MIN_VALUE, Short.MAX_VALUE);
        short offset = (short) target.offset();
        add(target, kind.equals("goto") ? new Goto(offset) : new MayGoto(offset));
    }

    private record JumpTarget(@Nullable Label label, int offset) {}

    private void add(JumpTarget target, Instruction jump) {
        if (target.label() == null) {
            code.add(jump);
        } else {
            code.add(jump, target.label());
        }
    }

    /** {@code pc+3} or the name of a place. */
    private JumpTarget target(LineScanner in, int least, int most) throws AssemblyException {
        int start = in.mark();
        String name = in.word();
        if (name.equals("pc") && in.atNumber()) {
            return new JumpTarget(null, (int) in.number(least, most, "the distance"));
        }
        in.back(start);
        return new JumpTarget(place(in), 0);
    }

    /** The name of a place, which may come later. */
    private Label place(LineScanner in) throws AssemblyException {
        int start = in.mark();
        String name = in.word();
        in.back(start);
        if (name.isEmpty()) {
            throw in.error("a place is missing before " + in.rest(), "pc+3, or a name");
        }
        Label label = named(in, name);
        in.word();
        return label;
    }

    private Label named(LineScanner in, String name) {
        if (!bound.containsKey(name)) {
            unbound.putIfAbsent(
                    name,
                    in.error("no place is called " + name, "write '" + name + ":' before one"));
        }
        return place(name);
    }

    private void call(LineScanner in) throws AssemblyException {
        int start = in.mark();
        if (in.atNumber()) {
            code.add(new CallHelperFunction(in.immediate()));
            return;
        }
        String name = in.word();
        if (name.equals("pc") && in.atNumber()) {
            code.add(new CallLocal(in.immediate()));
            if (in.take("#")) {
                in.toEnd(); // bpftool's name of the subprogram
            }
            return;
        }
        short module = 0;
        boolean kernel = name.equals("kfunc");
        if (kernel && in.take("[")) {
            module = in.offset();
            in.expect("]");
        }
        int helper = HelperFunctionId.number(name);
        if (in.take("#")) {
            int number = in.immediate();
            boolean isHelper = name.equals("unknown") || helper >= 0 && helper == number;
            code.add(
                    isHelper && !kernel
                            ? new CallHelperFunction(number)
                            : new CallKernel(number, module));
        } else if (helper >= 0) {
            code.add(new CallHelperFunction(helper));
        } else {
            in.back(start);
            if (name.isEmpty() || kernel) {
                throw in.error(
                        "what to call is missing before " + in.rest(),
                        "call bpf_ktime_get_ns, call pc+3, call name, call kfunc#12");
            }
            code.call(place(in));
        }
    }

    /** {@code r1 = } and what takes two slots. */
    private void constant(LineScanner in) throws AssemblyException {
        int start = in.mark();
        BpfRegister to = RegisterNames.wide(in);
        in.expect("=");
        if (in.takeWord("subprog")) {
            in.expect("[");
            if (in.atNumber()) {
                long offset = in.number(Integer.MIN_VALUE, Integer.MAX_VALUE, "the distance");
                code.add(new LoadWide(ConstantMeaning.FUNCTION, to, offset & 0xffffffffL));
            } else {
                code.function(to, place(in));
            }
            in.expect("]");
            return;
        }
        LoadWide wide = InstructionText.constant(in, to);
        if (wide == null) {
            in.back(start);
            throw in.error(in.rest() + " is not an instruction", InstructionText.hint(in));
        }
        code.add(wide);
    }
}
