package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.LocationLists.LocationEntry;
import sonde.binary.dwarf.location.ObjectLocation.AbsentLocation;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitBytes;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitValue;
import sonde.binary.dwarf.location.ObjectLocation.LocationPiece;
import sonde.binary.dwarf.location.ObjectLocation.LocationPieces;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.binary.dwarf.location.SymbolicValue.MemoryValue;
import sonde.binary.dwarf.location.SymbolicValue.OperationValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.dwarf.location.SymbolicValue.StaticAddress;
import sonde.binary.dwarf.location.SymbolicValue.TruncatedValue;
import sonde.binary.dwarf.section.ExpressionArithmetic;
import sonde.binary.dwarf.section.SectionCursor;

/**
 * Works out an expression (DWARF 5, 2.5 and 2.6) without registers or memory: what is not known
 * stays a {@link SymbolicValue} that says how to find it. Steps, depth and size of values are
 * bounded, so an expression that loops for ever is malformed.
 */
final class SymbolicExpression {
    private static final int WINDOW = 1 << 8;
    private static final int MOST_STEPS = 10_000;
    private static final int MOST_STACK = 1 << 10;
    private static final int MOST_CALLS = 8;
    private static final int MOST_PIECES = 1 << 10;

    /**
     * Where the expression counts.
     *
     * @param address as stated in the ELF
     * @param frameBase the function that has DW_AT_frame_base; null for none
     * @param rules for DW_OP_call_frame_cfa
     */
    record ExpressionContext(long address, @Nullable DebugEntry frameBase, FrameRules rules) {}

    private final EntryUnit unit;
    private final ExpressionContext place;
    private final int calls;
    private final StepBudget budget;
    private final ValueStack stack;
    private final List<LocationPiece> pieces = new ArrayList<>();
    private @Nullable ObjectLocation simple;

    /** Steps left, shared with the expressions that are called. */
    private static final class StepBudget {
        private int steps = MOST_STEPS;
    }

    private SymbolicExpression(
            EntryUnit unit, ExpressionContext place, int calls, StepBudget budget) {
        this.unit = unit;
        this.place = place;
        this.calls = calls;
        this.budget = budget;
        stack = new ValueStack(unit.addressBytes(), MOST_STACK);
    }

    /** Where an object is that an expression of a unit describes. */
    static ObjectLocation locate(EntryUnit unit, MemorySegment expression, ExpressionContext place)
            throws MalformedInputException {
        if (expression.byteSize() == 0) {
            return new AbsentLocation();
        }
        SymbolicExpression machine = new SymbolicExpression(unit, place, 0, new StepBudget());
        machine.run(expression);
        return machine.location();
    }

    /**
     * Where a member is in an object whose address is {@code object} (DW_AT_data_member_location).
     */
    static SymbolicValue member(EntryUnit unit, MemorySegment expression, SymbolicValue object)
            throws MalformedInputException {
        ExpressionContext nowhere = new ExpressionContext(0, null, FrameRules.NONE);
        SymbolicExpression machine = new SymbolicExpression(unit, nowhere, 0, new StepBudget());
        machine.stack.push(object);
        machine.run(expression);
        return machine.stack.pop();
    }

    private ObjectLocation location() throws MalformedInputException {
        if (!pieces.isEmpty()) {
            return new LocationPieces(List.copyOf(pieces));
        }
        return part();
    }

    /** What was said since the last piece. */
    private ObjectLocation part() throws MalformedInputException {
        ObjectLocation known = simple;
        simple = null;
        if (known != null) {
            return known;
        }
        return stack.isEmpty() ? new AbsentLocation() : new ObjectLocation.InMemory(stack.pop());
    }

    private void run(MemorySegment expression) throws MalformedInputException {
        SectionCursor cursor = new SectionCursor(expression, unit.file.isBig(), WINDOW);
        while (cursor.hasMore()) {
            if (budget.steps-- <= 0) {
                throw cursor.malformed("an expression of more than " + MOST_STEPS + " steps");
            }
            step(cursor, cursor.u8());
        }
    }

    private void step(SectionCursor cursor, int code) throws MalformedInputException {
        if (code >= 0x30 && code <= 0x4f) {
            stack.push(new ConstantValue(code - 0x30)); // lit
        } else if (code >= 0x50 && code <= 0x6f) {
            simple = new ObjectLocation.InRegister(code - 0x50); // reg
        } else if (code >= 0x70 && code <= 0x8f) {
            stack.push(SymbolicValue.plus(new RegisterValue(code - 0x70), cursor.sleb())); // breg
        } else if (code >= 0x08 && code <= 0x11) {
            stack.push(new ConstantValue(constant(cursor, code)));
        } else if (code >= 0x12 && code <= 0x17) {
            shuffle(cursor, code);
        } else if (code == 0x19
                || code == 0x1f
                || code == 0x20
                || ExpressionArithmetic.isBinary(code)) {
            stack.calculate(code);
        } else if (code >= 0x93) {
            late(cursor, code);
        } else {
            early(cursor, code);
        }
    }

    /** const1u to consts. */
    private static long constant(SectionCursor cursor, int code) throws MalformedInputException {
        return switch (code) {
            case 0x10 -> cursor.uleb();
            case 0x11 -> cursor.sleb();
            default -> {
                int bytes = 1 << (code - 0x08) / 2;
                yield (code & 1) == 0 ? cursor.unsigned(bytes) : cursor.signed(bytes);
            }
        };
    }

    private void shuffle(SectionCursor cursor, int code) throws MalformedInputException {
        switch (code) {
            case 0x12 -> stack.pick(0);
            case 0x13 -> stack.pop();
            case 0x14 -> stack.pick(1);
            case 0x15 -> stack.pick(cursor.u8());
            case 0x16 -> stack.turn(2);
            default -> stack.turn(3);
        }
    }

    private void early(SectionCursor cursor, int code) throws MalformedInputException {
        switch (code) {
            case 0x03 -> stack.push(new StaticAddress(cursor.unsigned(unit.addressBytes())));
            case 0x06 -> stack.load(unit.addressBytes());
            case 0x18 -> stack.other("xderef", true);
            case 0x23 -> stack.push(SymbolicValue.plus(stack.pop(), cursor.uleb()));
            case 0x28 -> { // bra
                long distance = cursor.signed(2);
                if (!(stack.pop() instanceof ConstantValue condition)) {
                    throw cursor.malformed("a branch that depends on the process");
                }
                if (condition.value() != 0) {
                    cursor.seek(cursor.position() + distance);
                }
            }
            case 0x2f -> { // skip
                long distance = cursor.signed(2);
                cursor.seek(cursor.position() + distance);
            }
            case 0x90 -> simple = new ObjectLocation.InRegister(register(cursor));
            case 0x91 -> stack.push(SymbolicValue.plus(frameBase(), cursor.sleb()));
            case 0x92 -> {
                int number = register(cursor);
                stack.push(SymbolicValue.plus(new RegisterValue(number), cursor.sleb()));
            }
            default -> throw unknown(cursor, code);
        }
    }

    private static MalformedInputException unknown(SectionCursor cursor, int code) {
        return cursor.malformed("operation 0x" + Integer.toHexString(code));
    }

    private static int register(SectionCursor cursor) throws MalformedInputException {
        int number = cursor.register();
        if (number < 0) {
            throw cursor.malformed("a register that no machine has");
        }
        return number;
    }

    private void late(SectionCursor cursor, int code) throws MalformedInputException {
        switch (code) {
            case 0x93 -> piece(cursor, Math.multiplyExact(8, bound(cursor, cursor.uleb())), 0);
            case 0x94 -> stack.load(cursor.u8());
            case 0x95 -> {
                cursor.u8();
                stack.other("xderef", true);
            }
            case 0x96, 0xf0 -> {
                // nop; GNU_uninit: what it says holds although the variable has no value yet
            }
            case 0x97 -> {
                // push_object_address: the member's object is on the stack already
                stack.pick(0);
            }
            case 0x98 -> call(unit.file.at(unit.offset + cursor.u16()));
            case 0x99 -> call(unit.file.at(unit.offset + cursor.u32()));
            case 0x9a -> call(unit.file.at(cursor.unsigned(unit.offsetBytes)));
            case 0x9b, 0xe0 -> stack.push(new SymbolicValue.ThreadLocal(stack.pop()));
            case 0x9c -> stack.push(frameAddress());
            case 0x9d -> {
                long bits = bound(cursor, cursor.uleb());
                piece(cursor, bits, bound(cursor, cursor.uleb()));
            }
            case 0x9e -> simple = bytes(cursor);
            case 0x9f -> simple = new ImplicitValue(stack.pop());
            case 0xa0, 0xf2 -> {
                boolean old = unit.version() == 2;
                long target = cursor.unsigned(old ? unit.addressBytes() : unit.offsetBytes);
                simple = new ObjectLocation.ImplicitPointer(target, cursor.sleb());
            }
            case 0xa1, 0xfb -> stack.push(new StaticAddress(indexed(cursor)));
            case 0xa2, 0xfc -> stack.push(new ConstantValue(indexed(cursor)));
            case 0xa3, 0xf3 -> stack.push(atEntry(cursor));
            case 0xfa -> { // GNU_parameter_ref: what the caller gave, which only callers know
                SymbolicValue which = new ConstantValue(cursor.u32());
                stack.push(new SymbolicValue.AtEntry(new OperationValue("parameter", which, null)));
            }
            case 0xfd -> { // GNU_variable_value
                DebugEntry variable = unit.file.at(cursor.unsigned(unit.offsetBytes));
                stack.push(valueOf(variable));
            }
            default -> typed(cursor, code);
        }
    }

    /** Operations of types that are not the address's (DWARF 5, 2.5.1.6). */
    private void typed(SectionCursor cursor, int code) throws MalformedInputException {
        switch (code) {
            case 0xa4, 0xf4 -> { // const_type
                DebugEntry type = type(cursor.uleb());
                int bytes = cursor.u8();
                boolean plain = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
                if (!plain) {
                    throw cursor.malformed("a constant of " + bytes + " bytes");
                }
                stack.push(cast(new ConstantValue(cursor.unsigned(bytes)), type));
            }
            case 0xa5, 0xf5 -> { // regval_type
                int number = register(cursor);
                stack.push(cast(new RegisterValue(number), type(cursor.uleb())));
            }
            case 0xa6, 0xf6 -> { // deref_type
                int bytes = cursor.u8();
                type(cursor.uleb());
                stack.load(bytes);
            }
            case 0xa7 -> {
                cursor.u8();
                cursor.uleb();
                stack.other("xderef", true);
            }
            case 0xa8, 0xf7, 0xa9, 0xf9 -> // convert, reinterpret
                    stack.push(cast(stack.pop(), type(cursor.uleb())));
            default -> throw unknown(cursor, code);
        }
    }

    private @Nullable DebugEntry type(long offset) throws MalformedInputException {
        return offset == 0 ? null : unit.entry(unit.offset + offset);
    }

    /** To a base type; null stands for that of addresses. */
    private SymbolicValue cast(SymbolicValue value, @Nullable DebugEntry type) {
        int bytes = unit.addressBytes();
        boolean signed = false;
        if (type != null) {
            bytes = Math.clamp(type.constant(DwarfAttribute.BYTE_SIZE, bytes), 1, 64);
            int encoding = (int) type.constant(DwarfAttribute.ENCODING, 0);
            signed = encoding == 5 || encoding == 6;
            if (encoding == 3 || encoding == 4) {
                return new OperationValue("floating", value, null);
            }
        }
        if (value instanceof ConstantValue constant && bytes < 8) {
            int unused = 64 - 8 * bytes;
            long moved = constant.value() << unused;
            return new ConstantValue(signed ? moved >> unused : moved >>> unused);
        }
        return bytes >= 8 ? value : new TruncatedValue(value, bytes, signed);
    }

    private static ObjectLocation bytes(SectionCursor cursor) throws MalformedInputException {
        long count = bound(cursor, cursor.uleb());
        return new ImplicitBytes(cursor.slice(count).toArray(ValueLayout.JAVA_BYTE));
    }

    private static long bound(SectionCursor cursor, long count) throws MalformedInputException {
        if (count < 0 || count > 1 << 28) {
            throw cursor.malformed("a piece of " + count);
        }
        return count;
    }

    private void piece(SectionCursor cursor, long bits, long offset)
            throws MalformedInputException {
        if (pieces.size() >= MOST_PIECES) {
            throw cursor.malformed("too many pieces");
        }
        pieces.add(new LocationPiece(part(), bits, offset));
    }

    private long indexed(SectionCursor cursor) throws MalformedInputException {
        long index = cursor.uleb();
        return unit.file
                .indexed(unit, index)
                .orElseThrow(() -> cursor.malformed("there is no address " + index));
    }

    private SymbolicValue frameAddress() {
        Optional<SymbolicValue> known = place.rules().frameAddress(place.address());
        return known.orElseGet(SymbolicValue.FrameAddress::new);
    }

    private SymbolicExpression inner(EntryUnit of) throws MalformedInputException {
        if (calls >= MOST_CALLS) {
            throw new MalformedInputException("DWARF", "expression", -1, "calls itself");
        }
        return new SymbolicExpression(of, place, calls + 1, budget);
    }

    /** DW_AT_frame_base of the function (DWARF 5, 3.3.5). */
    private SymbolicValue frameBase() throws MalformedInputException {
        DebugEntry function = place.frameBase();
        if (function == null) {
            throw new MalformedInputException("DWARF", "fbreg", -1, "outside of any function");
        }
        for (LocationEntry part : LocationLists.of(function, DwarfAttribute.FRAME_BASE)) {
            if (part.countsAt(place.address())) {
                SymbolicExpression machine = inner(function.unit);
                machine.run(part.expression());
                return switch (machine.location()) {
                    case ObjectLocation.InRegister in -> new RegisterValue(in.number());
                    case ObjectLocation.InMemory in -> in.address();
                    case ImplicitValue in -> in.value();
                    default -> new SymbolicValue.FrameAddress();
                };
            }
        }
        return new SymbolicValue.FrameAddress();
    }

    /** DW_OP_call*: the location expression of another entry works on this stack. */
    private void call(@Nullable DebugEntry entry) throws MalformedInputException {
        if (entry == null) {
            throw new MalformedInputException("DWARF", "call", -1, "there is no such entry");
        }
        for (LocationEntry part : LocationLists.of(entry, DwarfAttribute.LOCATION)) {
            if (part.countsAt(place.address())) {
                SymbolicExpression machine = inner(entry.unit);
                machine.stack.take(stack);
                machine.run(part.expression());
                stack.take(machine.stack);
                return;
            }
        }
    }

    private SymbolicValue atEntry(SectionCursor cursor) throws MalformedInputException {
        long bytes = bound(cursor, cursor.uleb());
        SymbolicExpression machine = inner(unit);
        machine.run(cursor.slice(bytes));
        return new SymbolicValue.AtEntry(
                switch (machine.location()) {
                    case ObjectLocation.InRegister in -> new RegisterValue(in.number());
                    case ObjectLocation.InMemory in -> in.address();
                    case ImplicitValue in -> in.value();
                    default -> new SymbolicValue.FrameAddress();
                });
    }

    private SymbolicValue valueOf(@Nullable DebugEntry variable) throws MalformedInputException {
        if (variable == null) {
            throw new MalformedInputException("DWARF", "variable", -1, "there is no such entry");
        }
        for (LocationEntry part : LocationLists.of(variable, DwarfAttribute.LOCATION)) {
            if (part.countsAt(place.address())) {
                SymbolicExpression machine = inner(variable.unit);
                machine.run(part.expression());
                return switch (machine.location()) {
                    case ObjectLocation.InRegister in -> new RegisterValue(in.number());
                    case ObjectLocation.InMemory in ->
                            new MemoryValue(in.address(), unit.addressBytes());
                    case ImplicitValue in -> in.value();
                    default -> new OperationValue("variable", new ConstantValue(0), null);
                };
            }
        }
        return new OperationValue("variable", new ConstantValue(0), null);
    }
}
