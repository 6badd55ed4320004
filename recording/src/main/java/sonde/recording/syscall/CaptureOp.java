package sonde.recording.syscall;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.ArgumentShape.LengthShape;
import sonde.recording.syscall.ArgumentShape.NumberForm;
import sonde.recording.syscall.ArgumentShape.PlainNumber;
import sonde.recording.syscall.ArgumentShape.PointerTo;
import sonde.recording.syscall.TargetShape.SpecialForm;

/**
 * What is to be read of a traced process's memory, as 8 bytes that a program of the kernel follows.
 *
 * @param kind one of the KIND constants
 * @param argument that holds the address: 0 to 5, or {@link CallRecord#STACK_POINTER}
 * @param source of the length: one of the LENGTH constants
 * @param lengthArgument that the source means
 * @param element bytes of an element; of a fixed length, what is added to the address
 * @param most bytes, or of a vector the bytes of each part
 */
public record CaptureOp(
        int kind, int argument, int source, int lengthArgument, int element, int most) {
    /** Ends the list. */
    public static final int KIND_END = 0;

    /** Bytes up to a NUL. */
    public static final int KIND_STRING = 1;

    public static final int KIND_BYTES = 2;

    /** Addresses of strings up to NULL. */
    public static final int KIND_STRINGS = 3;

    /** An array of struct iovec. */
    public static final int KIND_VECTOR = 4;

    /** A struct msghdr. */
    public static final int KIND_MESSAGE = 5;

    /** What the descriptor in the argument stands for; with LENGTH_RESULT that in the result. */
    public static final int KIND_FILE = 6;

    /** An array of descriptors, {@code element} bytes apart; the fixed length is a number. */
    public static final int KIND_FILES = 7;

    public static final int LENGTH_FIXED = 0;
    public static final int LENGTH_ARGUMENT = 1;
    public static final int LENGTH_RESULT = 2;
    public static final int LENGTH_BEHIND = 3;

    /** The number of the "argument" that is the result, in pieces of files. */
    public static final int RESULT = 7;

    /** Operations of a call at its entry, and as many at its exit. */
    public static final int MOST = 8;

    /** Parts of a vector that are read. */
    public static final int PARTS = 120;

    /**
     * The operations of a call.
     *
     * @param entry what is read when the call begins; the same is read again when it ends if the
     *     memory was not present
     */
    public record CallPlan(List<CaptureOp> entry, List<CaptureOp> exit) {
        boolean needsFiles() {
            return Stream.concat(entry.stream(), exit.stream())
                    .anyMatch(op -> op.kind() == KIND_FILE || op.kind() == KIND_FILES);
        }
    }

    /**
     * The plan of a call, and the plans of the values of the argument that chooses another line.
     *
     * @param chooser that argument; -1 for none
     */
    public record NumberPlan(CallPlan plan, int chooser, Map<Long, CallPlan> choices) {
        /** Whether descriptors are followed. */
        public boolean needsFiles() {
            return plan.needsFiles() || choices.values().stream().anyMatch(CallPlan::needsFiles);
        }
    }

    /**
     * What is wanted besides what the table says.
     *
     * @param limit bytes of a string (-s)
     * @param files whether the files behind descriptors are wanted (-y, -P)
     * @param verbose calls that are shown with all fields (-v)
     */
    public record PlanStyle(int limit, boolean files, BitSet verbose) {}

    private static final int SIGNAL_MASK = 296; // uc_sigmask in struct ucontext of x86-64

    /** The operation as the program reads it. */
    public long word() {
        return kind
                | argument << 8
                | source << 16
                | (long) lengthArgument << 24
                | (long) element << 32
                | (long) most << 48;
    }

    /** What is captured of a call. */
    public static NumberPlan plan(CallTable table, int number, PlanStyle style) {
        CallShape shape = table.shape(number);
        if (shape == null) {
            return new NumberPlan(new CallPlan(List.of(), List.of()), -1, Map.of());
        }
        Map<Long, CallPlan> choices = new TreeMap<>();
        shape.choices().forEach((value, line) -> choices.put(value, plan(line, style)));
        return new NumberPlan(plan(shape, style), shape.chooser(), choices);
    }

    private static CallPlan plan(CallShape shape, PlanStyle style) {
        int limit = style.limit();
        List<CaptureOp> entry = new ArrayList<>();
        List<CaptureOp> exit = new ArrayList<>();
        for (int i = 0; i < shape.arguments().size(); i++) {
            switch (shape.arguments().get(i).shape()) {
                case PointerTo pointer -> {
                    CaptureOp op =
                            isSpecial(pointer, SpecialForm.ENVP)
                                            && style.verbose().get(shape.number())
                                    ? new CaptureOp(KIND_STRINGS, i, LENGTH_FIXED, 0, 0, limit + 2)
                                    : of(i, pointer, limit);
                    if (pointer.in() || isSpecial(pointer, SpecialForm.SOCKLEN)) {
                        entry.add(op);
                    }
                    if (pointer.out()) {
                        exit.add(op);
                    }
                    if (pointer.out() && isSpecial(pointer, SpecialForm.MSGHDR)) {
                        entry.add(fixed(i, 0, 56)); // the length of the name before
                    }
                    if (isSpecial(pointer, SpecialForm.SIGMASKPAIR)) {
                        // The set that the pair points to is read as a part of a vector.
                        entry.set(
                                entry.size() - 1,
                                new CaptureOp(KIND_VECTOR, i, LENGTH_FIXED, 0, 0, 8));
                    }
                }
                case PlainNumber(NumberForm form) when form == NumberForm.SIGFRAME ->
                        entry.add(fixed(CallRecord.STACK_POINTER, SIGNAL_MASK, 8));
                case PlainNumber(NumberForm form) when form == NumberForm.CAPDATA -> {
                    entry.add(fixed(i, 0, 24));
                    exit.add(fixed(i, 0, 24));
                }
                default -> {}
            }
        }
        if (shape.result() instanceof PlainNumber(NumberForm form)) {
            if (form == NumberForm.POLLED) {
                exit.add(new CaptureOp(KIND_BYTES, 0, LENGTH_ARGUMENT, 1, 8, 8 * 4096 - 8));
            } else if (form == NumberForm.SELECTED) {
                for (int i = 1; i < 4; i++) {
                    exit.add(fixed(i, 0, SpecialForm.FDSET.bytes));
                }
                exit.add(fixed(4, 0, 16));
            }
        }
        if (style.files()) {
            files(shape, entry, exit);
        }
        return new CallPlan(entry, exit);
    }

    private static void files(CallShape shape, List<CaptureOp> entry, List<CaptureOp> exit) {
        for (int i = 0; i < shape.arguments().size(); i++) {
            ArgumentShape argument = shape.arguments().get(i).shape();
            if (CallTable.isDescriptor(argument)) {
                entry.add(new CaptureOp(KIND_FILE, i, LENGTH_FIXED, 0, 0, 1));
            } else if (argument instanceof PointerTo pointer
                    && CallTable.firstDescriptor(pointer.target())) {
                array(i, pointer).ifPresent(op -> (pointer.out() ? exit : entry).add(op));
            }
        }
        if (CallTable.isDescriptor(shape.result())) {
            exit.add(new CaptureOp(KIND_FILE, RESULT, LENGTH_RESULT, 0, 0, 1));
        }
    }

    private static Optional<CaptureOp> array(int index, PointerTo pointer) {
        int bytes =
                switch (pointer.target()) {
                    case TargetShape.StructShape struct -> struct.bytes();
                    default -> 4;
                };
        return switch (pointer.count()) {
            case LengthShape.FixedCount(int number) ->
                    Optional.of(new CaptureOp(KIND_FILES, index, LENGTH_FIXED, number, bytes, 1));
            case LengthShape.ByArgument(int number) ->
                    Optional.of(
                            new CaptureOp(KIND_FILES, index, LENGTH_ARGUMENT, number, bytes, 1));
            case null, default -> Optional.empty();
        };
    }

    private static boolean isSpecial(PointerTo pointer, SpecialForm form) {
        return pointer.target() instanceof TargetShape.Special(SpecialForm it) && it == form;
    }

    private static CaptureOp fixed(int argument, int offset, int bytes) {
        return new CaptureOp(KIND_BYTES, argument, LENGTH_FIXED, 0, offset, bytes);
    }

    private static CaptureOp of(int index, PointerTo pointer, int limit) {
        return switch (pointer.target()) {
            case TargetShape.StructShape struct ->
                    sized(index, pointer.count(), struct.bytes(), pointer.count() == null ? 1 : 33);
            case TargetShape.Boxed boxed -> {
                int bytes = ArgumentShape.bytes(boxed.number());
                yield sized(index, pointer.count(), bytes, pointer.count() == null ? 1 : 33);
            }
            case TargetShape.Special(SpecialForm form) -> special(index, pointer, form, limit);
        };
    }

    private static CaptureOp special(int index, PointerTo pointer, SpecialForm form, int limit) {
        LengthShape count = pointer.count();
        return switch (form) {
            case PATH -> new CaptureOp(KIND_STRING, index, LENGTH_FIXED, 0, 0, form.bytes);
            case STR -> new CaptureOp(KIND_STRING, index, LENGTH_FIXED, 0, 0, limit + 2);
            case STRV -> new CaptureOp(KIND_STRINGS, index, LENGTH_FIXED, 0, 0, limit + 2);
            case BYTES, HEXBYTES -> sized(index, count, 1, limit);
            case IOV -> vector(index, pointer, limit);
            case MSGHDR -> new CaptureOp(KIND_MESSAGE, index, LENGTH_FIXED, 0, 0, limit);
            case DIRENTS, SOCKADDR, CPUSET, SOCKVALUE -> sized(index, count, 1, form.bytes);
            default -> fixed(index, 0, form.bytes);
        };
    }

    private static CaptureOp vector(int index, PointerTo pointer, int limit) {
        int argument =
                pointer.count() instanceof LengthShape.ByArgument(int number) ? number : index + 1;
        return new CaptureOp(KIND_VECTOR, index, LENGTH_ARGUMENT, argument, 16, limit);
    }

    /** So many elements, or bytes where an element has one. */
    private static CaptureOp sized(int index, @Nullable LengthShape count, int element, int most) {
        int bytes = element * most;
        return switch (count) {
            case null -> fixed(index, 0, element);
            case LengthShape.FixedCount(int number) -> fixed(index, 0, element * number);
            case LengthShape.ByArgument(int number) ->
                    new CaptureOp(KIND_BYTES, index, LENGTH_ARGUMENT, number, element, bytes);
            case LengthShape.ByResult() ->
                    new CaptureOp(KIND_BYTES, index, LENGTH_RESULT, 0, element, bytes);
            case LengthShape.BehindArgument(int number) ->
                    new CaptureOp(KIND_BYTES, index, LENGTH_BEHIND, number, element, bytes);
        };
    }
}
