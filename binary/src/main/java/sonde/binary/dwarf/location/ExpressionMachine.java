package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.Arithmetic;
import sonde.binary.dwarf.section.SectionCursor;

/**
 * Works out an expression (DWARF 5, 2.5 and 2.6) without registers or memory: what is not known
 * stays a {@link Value} that says how to find it. Steps, depth and size of values are bounded, so
 * an expression that loops for ever is malformed.
 */
final class ExpressionMachine {
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
    record Place(long address, @Nullable Entry frameBase, FrameRules rules) {}

    private final EntryUnit unit;
    private final Place place;
    private final int calls;
    private final Budget budget;
    private final ValueStack stack;
    private final List<Location.Piece> pieces = new ArrayList<>();
    private @Nullable Location simple;

    /** Steps left, shared with the expressions that are called. */
    private static final class Budget {
        private int steps = MOST_STEPS;
    }

    private ExpressionMachine(EntryUnit unit, Place place, int calls, Budget budget) {
        this.unit = unit;
        this.place = place;
        this.calls = calls;
        this.budget = budget;
        stack = new ValueStack(unit.addressBytes(), MOST_STACK);
    }

    /** Where an object is that an expression of a unit describes. */
    static Location locate(EntryUnit unit, MemorySegment expression, Place place)
            throws MalformedInputException {
        if (expression.byteSize() == 0) {
            return new Location.Absent();
        }
        ExpressionMachine machine = new ExpressionMachine(unit, place, 0, new Budget());
        machine.run(expression);
        return machine.location();
    }

    /**
     * Where a member is in an object whose address is {@code object} (DW_AT_data_member_location).
     */
    static Value member(EntryUnit unit, MemorySegment expression, Value object)
            throws MalformedInputException {
        Place nowhere = new Place(0, null, FrameRules.NONE);
        ExpressionMachine machine = new ExpressionMachine(unit, nowhere, 0, new Budget());
        machine.stack.push(object);
        machine.run(expression);
        return machine.stack.pop();
    }

    private Location location() throws MalformedInputException {
        if (!pieces.isEmpty()) {
            return new Location.Pieces(List.copyOf(pieces));
        }
        return part();
    }

    /** What was said since the last piece. */
    private Location part() throws MalformedInputException {
        Location known = simple;
        simple = null;
        if (known != null) {
            return known;
        }
        return stack.isEmpty() ? new Location.Absent() : new Location.InMemory(stack.pop());
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
            stack.push(new Value.Constant(code - 0x30)); // lit
        } else if (code >= 0x50 && code <= 0x6f) {
            simple = new Location.InRegister(code - 0x50); // reg
        } else if (code >= 0x70 && code <= 0x8f) {
            stack.push(Value.plus(new Value.Register(code - 0x70), cursor.sleb())); // breg
        } else if (code >= 0x08 && code <= 0x11) {
            stack.push(new Value.Constant(constant(cursor, code)));
        } else if (code >= 0x12 && code <= 0x17) {
            shuffle(cursor, code);
        } else if (code == 0x19 || code == 0x1f || code == 0x20 || Arithmetic.isBinary(code)) {
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
            case 0x03 -> stack.push(new Value.Static(cursor.unsigned(unit.addressBytes())));
            case 0x06 -> stack.load(unit.addressBytes());
            case 0x18 -> stack.other("xderef", true);
            case 0x23 -> stack.push(Value.plus(stack.pop(), cursor.uleb()));
            case 0x28 -> { // bra
                long distance = cursor.signed(2);
                if (!(stack.pop() instanceof Value.Constant condition)) {
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
            case 0x90 -> simple = new Location.InRegister(register(cursor));
            case 0x91 -> stack.push(Value.plus(frameBase(), cursor.sleb()));
            case 0x92 -> {
                int number = register(cursor);
                stack.push(Value.plus(new Value.Register(number), cursor.sleb()));
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
            case 0x9b, 0xe0 -> stack.push(new Value.ThreadLocal(stack.pop()));
            case 0x9c -> stack.push(frameAddress());
            case 0x9d -> {
                long bits = bound(cursor, cursor.uleb());
                piece(cursor, bits, bound(cursor, cursor.uleb()));
            }
            case 0x9e -> simple = bytes(cursor);
            case 0x9f -> simple = new Location.Computed(stack.pop());
            case 0xa0, 0xf2 -> {
                boolean old = unit.version() == 2;
                long target = cursor.unsigned(old ? unit.addressBytes() : unit.offsetBytes);
                simple = new Location.ImplicitPointer(target, cursor.sleb());
            }
            case 0xa1, 0xfb -> stack.push(new Value.Static(indexed(cursor)));
            case 0xa2, 0xfc -> stack.push(new Value.Constant(indexed(cursor)));
            case 0xa3, 0xf3 -> stack.push(atEntry(cursor));
            case 0xfa -> { // GNU_parameter_ref: what the caller gave, which only callers know
                Value which = new Value.Constant(cursor.u32());
                stack.push(new Value.AtEntry(new Value.Operation("parameter", which, null)));
            }
            case 0xfd -> { // GNU_variable_value
                Entry variable = unit.file.at(cursor.unsigned(unit.offsetBytes));
                stack.push(valueOf(variable));
            }
            default -> typed(cursor, code);
        }
    }

    /** Operations of types that are not the address's (DWARF 5, 2.5.1.6). */
    private void typed(SectionCursor cursor, int code) throws MalformedInputException {
        switch (code) {
            case 0xa4, 0xf4 -> { // const_type
                Entry type = type(cursor.uleb());
                int bytes = cursor.u8();
                boolean plain = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
                if (!plain) {
                    throw cursor.malformed("a constant of " + bytes + " bytes");
                }
                stack.push(cast(new Value.Constant(cursor.unsigned(bytes)), type));
            }
            case 0xa5, 0xf5 -> { // regval_type
                int number = register(cursor);
                stack.push(cast(new Value.Register(number), type(cursor.uleb())));
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

    private @Nullable Entry type(long offset) throws MalformedInputException {
        return offset == 0 ? null : unit.entry(unit.offset + offset);
    }

    /** To a base type; null stands for that of addresses. */
    private Value cast(Value value, @Nullable Entry type) {
        int bytes = unit.addressBytes();
        boolean signed = false;
        if (type != null) {
            bytes = Math.clamp(type.constant(Attribute.BYTE_SIZE, bytes), 1, 64);
            int encoding = (int) type.constant(Attribute.ENCODING, 0);
            signed = encoding == 5 || encoding == 6;
            if (encoding == 3 || encoding == 4) {
                return new Value.Operation("floating", value, null);
            }
        }
        if (value instanceof Value.Constant constant && bytes < 8) {
            int unused = 64 - 8 * bytes;
            long moved = constant.value() << unused;
            return new Value.Constant(signed ? moved >> unused : moved >>> unused);
        }
        return bytes >= 8 ? value : new Value.Cast(value, bytes, signed);
    }

    private static Location bytes(SectionCursor cursor) throws MalformedInputException {
        long count = bound(cursor, cursor.uleb());
        return new Location.Bytes(cursor.slice(count).toArray(ValueLayout.JAVA_BYTE));
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
        pieces.add(new Location.Piece(part(), bits, offset));
    }

    private long indexed(SectionCursor cursor) throws MalformedInputException {
        long index = cursor.uleb();
        return unit.file
                .indexed(unit, index)
                .orElseThrow(() -> cursor.malformed("there is no address " + index));
    }

    private Value frameAddress() {
        Optional<Value> known = place.rules().frameAddress(place.address());
        return known.orElseGet(Value.FrameAddress::new);
    }

    private ExpressionMachine inner(EntryUnit of) throws MalformedInputException {
        if (calls >= MOST_CALLS) {
            throw new MalformedInputException("DWARF", "expression", -1, "calls itself");
        }
        return new ExpressionMachine(of, place, calls + 1, budget);
    }

    /** DW_AT_frame_base of the function (DWARF 5, 3.3.5). */
    private Value frameBase() throws MalformedInputException {
        Entry function = place.frameBase();
        if (function == null) {
            throw new MalformedInputException("DWARF", "fbreg", -1, "outside of any function");
        }
        for (LocationLists.Part part : LocationLists.of(function, Attribute.FRAME_BASE)) {
            if (part.countsAt(place.address())) {
                ExpressionMachine machine = inner(function.unit);
                machine.run(part.expression());
                return switch (machine.location()) {
                    case Location.InRegister in -> new Value.Register(in.number());
                    case Location.InMemory in -> in.address();
                    case Location.Computed in -> in.value();
                    default -> new Value.FrameAddress();
                };
            }
        }
        return new Value.FrameAddress();
    }

    /** DW_OP_call*: the location expression of another entry works on this stack. */
    private void call(@Nullable Entry entry) throws MalformedInputException {
        if (entry == null) {
            throw new MalformedInputException("DWARF", "call", -1, "there is no such entry");
        }
        for (LocationLists.Part part : LocationLists.of(entry, Attribute.LOCATION)) {
            if (part.countsAt(place.address())) {
                ExpressionMachine machine = inner(entry.unit);
                machine.stack.take(stack);
                machine.run(part.expression());
                stack.take(machine.stack);
                return;
            }
        }
    }

    private Value atEntry(SectionCursor cursor) throws MalformedInputException {
        long bytes = bound(cursor, cursor.uleb());
        ExpressionMachine machine = inner(unit);
        machine.run(cursor.slice(bytes));
        return new Value.AtEntry(
                switch (machine.location()) {
                    case Location.InRegister in -> new Value.Register(in.number());
                    case Location.InMemory in -> in.address();
                    case Location.Computed in -> in.value();
                    default -> new Value.FrameAddress();
                });
    }

    private Value valueOf(@Nullable Entry variable) throws MalformedInputException {
        if (variable == null) {
            throw new MalformedInputException("DWARF", "variable", -1, "there is no such entry");
        }
        for (LocationLists.Part part : LocationLists.of(variable, Attribute.LOCATION)) {
            if (part.countsAt(place.address())) {
                ExpressionMachine machine = inner(variable.unit);
                machine.run(part.expression());
                return switch (machine.location()) {
                    case Location.InRegister in -> new Value.Register(in.number());
                    case Location.InMemory in -> new Value.Load(in.address(), unit.addressBytes());
                    case Location.Computed in -> in.value();
                    default -> new Value.Operation("variable", new Value.Constant(0), null);
                };
            }
        }
        return new Value.Operation("variable", new Value.Constant(0), null);
    }
}
