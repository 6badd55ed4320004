package sonde.bpf.verifier;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.CallHelperFunction;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.verifier.LogEntry.LoggedStep;

/**
 * Where a value came from: the path walked back from where the verifier stopped, through moves,
 * spills to the stack, arguments and results of subprograms.
 */
final class RegisterHistory {
    /** Steps before a call in which the state of a register is looked for. */
    private static final int MOST_LOOKED = 1000;

    private static final int MOST_KEPT = 7;
    private static final int MOST_BRANCHES = 2;
    private static final int MOST_ASIDE = 3;
    private static final Pattern MOVE =
            Pattern.compile(" is a copy of r\\d+$| is saved on the stack| is loaded back ");

    private final List<LoggedStep> path;
    private final InstructionListing listing;
    private final InstructionLines sources;
    private final TreeMap<Integer, HistoryStep> found = new TreeMap<>();
    private final String begin;
    private int aside;
    private boolean isNumber;
    private String ended = "";
    private String pointer = "";
    private @Nullable HistoryStep start;

    /** What was found. */
    record FoundHistory(List<HistoryStep> steps, String ended, String pointer) {
        static final FoundHistory NONE = new FoundHistory(List.of(), "", "");

        /** Whether it was a pointer into the packet that became a number. */
        boolean wasPacket() {
            return pointer.startsWith("pkt");
        }
    }

    /** bpf_helper_changes_pkt_data of net/core/filter.c. */
    private static final Pattern MOVES_PACKET =
            Pattern.compile(
                    "bpf_(?:skb_(?:vlan_push|vlan_pop|store_bytes|change_(?:proto|head|tail)"
                            + "|pull_data|adjust_room)|l[34]_csum_replace"
                            + "|xdp_adjust_(?:head|meta|tail)"
                            + "|msg_(?:pull|push|pop)_data|lwt_\\w+|clone_redirect|store_hdr_opt)");

    private static final Pattern GIVES_UP =
            Pattern.compile(
                    "\\w*_(?:submit|discard|release|put|destroy|drop|free|unlock)(?:_\\w+)?");

    /** Where the value is at a point of the walk. */
    private sealed interface ValuePlace {
        /** In a register. */
        record HeldInRegister(BpfRegister register) implements ValuePlace {
            @Override
            public String toString() {
                return name(register);
            }
        }

        /** On the stack of the frame, bytes from r10. */
        record OnStack(int offset) implements ValuePlace {
            @Override
            public String toString() {
                return "the stack at r10" + offset;
            }
        }
    }

    private RegisterHistory(
            List<LoggedStep> path,
            InstructionListing listing,
            InstructionLines sources,
            String begin) {
        this.path = path;
        this.listing = listing;
        this.sources = sources;
        this.begin = begin;
    }

    /**
     * What happened to a register before the last step of the path, first to last; and of a number
     * that had been a pointer, the call that ended that.
     *
     * @param isNumber whether the verifier says that it is a number there
     * @param begin state when the program began
     */
    static FoundHistory of(
            int register,
            boolean isNumber,
            List<LoggedStep> path,
            InstructionListing listing,
            InstructionLines sources,
            String begin) {
        RegisterHistory history = new RegisterHistory(path, listing, sources, begin);
        history.isNumber = isNumber;
        history.walk(
                new ValuePlace.HeldInRegister(BpfRegister.of(register)), path.size() - 2, false);
        List<HistoryStep> steps = new ArrayList<>();
        if (history.start != null) {
            steps.add(history.start);
        }
        steps.addAll(history.found.values());
        shorten(steps);
        return new FoundHistory(List.copyOf(steps), history.ended, history.pointer);
    }

    /** Leaves out the last copies and moves, which change nothing, then those in the middle. */
    private static void shorten(List<HistoryStep> steps) {
        int surplus = steps.size() - MOST_KEPT;
        List<HistoryStep> kept = new ArrayList<>();
        for (int i = steps.size() - 1; i >= 0; i--) {
            boolean moves = i > 0 && surplus > 0 && MOVE.matcher(steps.get(i).what()).find();
            if (moves) {
                surplus--;
            } else {
                kept.add(steps.get(i));
            }
        }
        steps.clear();
        steps.addAll(kept.reversed());
        if (surplus > 0) {
            int from = (MOST_KEPT + 1) / 2;
            steps.subList(from, from + surplus).clear();
        }
    }

    static String name(BpfRegister register) {
        return "r" + register.ordinal();
    }

    private void walk(ValuePlace from, int last, boolean other) {
        ValuePlace place = from;
        int frames = 0;
        int branches = 0;
        for (int i = last; i >= 0; i--) {
            Instruction instruction = listing.at(path.get(i));
            if (instruction instanceof Instruction.Exit) {
                frames += isResult(place) && frames == 0 ? 0 : 1;
            } else if (instruction instanceof Instruction.CallLocal) {
                if (frames > 0) {
                    frames--;
                    if (frames == 0 && isArgument(place)) {
                        add(i, place + " is lost: calls destroy r1 to r5", "");
                        return;
                    }
                } else if (isArgument(place)) {
                    add(i, place + " is passed to the subprogram", place.toString());
                } else {
                    return; // another frame's
                }
            } else if (frames == 0 && instruction != null) {
                if (instruction instanceof Instruction.Branch branch) {
                    if (compares(branch, place) && branches++ < MOST_BRANCHES) {
                        add(i, branched(branch, i, place), place.toString());
                    }
                    continue;
                }
                boolean isCall =
                        instruction instanceof CallHelperFunction
                                || instruction instanceof Instruction.CallKernel;
                if (isCall && isNumber && !other && ended.isEmpty()) {
                    invalidated(i, place);
                }
                ValuePlace next = step(i, instruction, place);
                if (next == null) {
                    return;
                }
                place = next;
            }
        }
        if (!other) {
            atBegin(place);
        }
    }

    /** Whether a function takes an object back. */
    static boolean givesUp(String function) {
        return GIVES_UP.matcher(function).matches();
    }

    /** The log does not print what a call makes of the registers that it does not write. */
    private void invalidated(int i, ValuePlace place) {
        if (isResult(place) || isArgument(place)) {
            return;
        }
        String text = path.get(i).text();
        int end = text.indexOf('#');
        String call = text.startsWith("call ") && end > 5 ? text.substring(5, end) : "";
        String before = "";
        for (int k = i - 1; k >= Math.max(0, i - MOST_LOOKED) && before.isEmpty(); k--) {
            before = state(path.get(k).state(), of(place));
        }
        boolean isPointer =
                !before.isEmpty() && !before.matches("(?:scalar|inv|-?\\d|0x).*|P\\d.*");
        Pattern ends = before.startsWith("pkt") ? MOVES_PACKET : GIVES_UP;
        if (isPointer && ends.matcher(call).matches()) {
            ended = call;
            pointer = before;
            add(i, place + " is no pointer from here on", "");
        }
    }

    private static String of(ValuePlace place) {
        return place instanceof ValuePlace.OnStack(int offset) ? "fp" + offset : place.toString();
    }

    private void atBegin(ValuePlace place) {
        boolean argument =
                place instanceof ValuePlace.HeldInRegister in && in.register() == BpfRegister.R1;
        if (argument) {
            start =
                    new HistoryStep(
                            -1,
                            "",
                            null,
                            "r1 is the context when the program begins",
                            state(begin, place.toString()));
        }
    }

    private static boolean isResult(ValuePlace place) {
        return place instanceof ValuePlace.HeldInRegister in && in.register() == BpfRegister.R0;
    }

    private static boolean isArgument(ValuePlace place) {
        return place instanceof ValuePlace.HeldInRegister in
                && in.register().ordinal() >= 1
                && in.register().ordinal() <= 5;
    }

    private static boolean compares(Instruction.Branch branch, ValuePlace place) {
        return place instanceof ValuePlace.HeldInRegister in
                && (branch.left() == in.register() || branch.right() == in.register());
    }

    private String branched(Instruction.Branch branch, int index, ValuePlace place) {
        int slot = path.get(index).slot();
        int next = index + 1 < path.size() ? path.get(index + 1).slot() : -1;
        boolean taken = next == slot + 1 + branch.offset() && branch.offset() != 0;
        return place + " is compared; the path goes on at " + next + (taken ? "" : ", no jump");
    }

    /** What the instruction did to the place, and where the value was before; null: it began. */
    private @Nullable ValuePlace step(int i, Instruction instruction, ValuePlace place) {
        return place instanceof ValuePlace.OnStack slot
                ? stored(i, instruction, slot)
                : written(i, instruction, ((ValuePlace.HeldInRegister) place).register());
    }

    private @Nullable ValuePlace stored(int i, Instruction instruction, ValuePlace.OnStack place) {
        if (instruction instanceof Instruction.Store store
                && store.base() == BpfRegister.R10
                && store.offset() <= place.offset()
                && store.offset() + store.width().bytes() > place.offset()) {
            if (store.from() instanceof BpfRegister from) {
                add(i, name(from) + " is saved on the stack", "fp" + store.offset());
                return new ValuePlace.HeldInRegister(from);
            }
            add(i, "a constant is put on the stack", "fp" + store.offset());
            return null;
        }
        return place;
    }

    private @Nullable ValuePlace written(int i, Instruction instruction, BpfRegister register) {
        ValuePlace.HeldInRegister same = new ValuePlace.HeldInRegister(register);
        String to = name(register);
        return switch (instruction) {
            case Instruction.Alu alu when alu.to() == register -> computed(i, alu);
            case Instruction.SignExtend move when move.to() == register -> {
                add(i, to + " is " + name(move.from()) + " with its sign", to);
                yield new ValuePlace.HeldInRegister(move.from());
            }
            case Instruction.Negate change when change.to() == register -> changed(i, same);
            case Instruction.ByteSwap change when change.to() == register -> changed(i, same);
            case Instruction.Load load when load.to() == register ->
                    loaded(i, load.base(), load.offset(), to);
            case Instruction.LoadSigned load when load.to() == register ->
                    loaded(i, load.base(), load.offset(), to);
            case Instruction.LoadAcquire load when load.to() == register ->
                    loaded(i, load.base(), load.offset(), to);
            case Instruction.LoadWide wide when wide.to() == register -> {
                add(i, to + " is " + meaning(wide.meaning()), to);
                yield null;
            }
            case CallHelperFunction call -> called(i, HelperFunctionId.name(call.helper()), same);
            case Instruction.CallKernel call -> called(i, callee(i, call), same);
            case Instruction.LoadPacket _, Instruction.LoadPacketIndexed _ ->
                    called(i, "the packet load", same);
            case Instruction.Atomic atomic
                    when atomic.operation().fetches() && register == result(atomic) -> {
                add(i, to + " is what was in memory", to);
                yield null;
            }
            case Instruction other -> same;
        };
    }

    /** The register that takes what was in memory. */
    private static BpfRegister result(Instruction.Atomic atomic) {
        return atomic.operation() == AtomicOperation.COMPARE_EXCHANGE
                ? BpfRegister.R0
                : atomic.from();
    }

    /** The kernel function's name as the log prints it: {@code call bpf_rcu_read_lock#12}. */
    private String callee(int i, Instruction.CallKernel call) {
        String text = path.get(i).text();
        int end = text.indexOf('#');
        return text.startsWith("call ") && end > 5
                ? text.substring(5, end)
                : "kernel function " + call.btfId();
    }

    private ValuePlace changed(int i, ValuePlace.HeldInRegister place) {
        add(i, place + " is changed", place.toString());
        return place;
    }

    private @Nullable ValuePlace computed(int i, Instruction.Alu alu) {
        String to = name(alu.to());
        boolean move = alu.operation() == AluOperation.MOVE;
        if (alu.from() instanceof BpfRegister from) {
            if (move) {
                add(i, to + " is a copy of " + name(from) + (alu.wide() ? "" : ", 32 bits"), to);
                return new ValuePlace.HeldInRegister(from);
            }
            add(i, to + " is changed by " + name(from), to);
            if (from != alu.to() && aside++ < MOST_ASIDE) {
                walk(new ValuePlace.HeldInRegister(from), i - 1, true);
            }
            return new ValuePlace.HeldInRegister(alu.to());
        }
        if (move) {
            add(i, to + " is a constant", to);
            return null;
        }
        return changed(i, new ValuePlace.HeldInRegister(alu.to()));
    }

    private @Nullable ValuePlace loaded(int i, BpfRegister base, int offset, String to) {
        if (base == BpfRegister.R10) {
            add(i, to + " is loaded back from the stack", to);
            return new ValuePlace.OnStack(offset);
        }
        add(i, to + " is read through " + name(base), to);
        return null;
    }

    private @Nullable ValuePlace called(int i, String what, ValuePlace.HeldInRegister place) {
        if (isResult(place)) {
            add(i, "r0 is what " + what + " returned", "r0");
            return null;
        }
        if (isArgument(place)) {
            add(i, place + " is lost: calls destroy r1 to r5", "");
            return null;
        }
        return place;
    }

    private static String meaning(ConstantMeaning meaning) {
        return switch (meaning) {
            case NUMBER -> "a constant";
            case MAP, MAP_INDEX -> "a map";
            case MAP_VALUE, MAP_INDEX_VALUE -> "an address in a map's value";
            case BTF_ID -> "a variable of the kernel";
            case FUNCTION -> "a subprogram";
        };
    }

    /**
     * @param of the register or stack slot whose state afterwards is told; empty for none
     */
    private void add(int i, String what, String of) {
        LoggedStep step = path.get(i);
        Instruction instruction = listing.at(step.slot());
        String text = instruction == null ? step.text() : Disassembler.text(instruction);
        if (instruction instanceof Instruction.CallKernel) {
            text = step.text();
        }
        found.put(
                i,
                new HistoryStep(
                        step.slot(), text, sources.at(step.slot()), what, state(step.state(), of)));
    }

    private static String state(String state, String of) {
        if (of.isEmpty()) {
            return "";
        }
        String key = of.charAt(0) == 'r' ? "R" + of.substring(1) : of;
        return VerifierLog.valueIn(state, key);
    }

    /** How the walk's origin reads in a sentence: of the first step that is not a comparison. */
    static String origin(List<HistoryStep> history) {
        for (HistoryStep step : history) {
            int is = step.what().indexOf(" is what ");
            if (is >= 0) {
                return step.what().substring(is + " is ".length());
            }
        }
        return "";
    }
}
