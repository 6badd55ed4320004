package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.lang.bpftrace.check.Comptimes;
import sonde.lang.bpftrace.lower.Value.Number;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Vreg;
import sonde.lang.output.RuntimeFault;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** Expressions: which family each is of, members, elements, casts, tuples. */
final class Expressions {
    private final Lowerer lowerer;

    Expressions(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    Value value(Expression e) {
        Object known = lowerer.clause().value(e);
        if (known != null && !(known instanceof Type)) {
            Value later = lowerer.portable().isWanted() ? measured(e) : null;
            return later == null ? constant(known) : later;
        }
        return switch (e) {
            case Expression.IntegerLiteral n -> Value.of(n.value());
            case Expression.StringLiteral s -> lowerer.texts().literal(s.bytes());
            case Expression.BooleanLiteral b -> Value.of(b.value() ? 1 : 0);
            case Expression.Name n -> lowerer.context().builtin(n, lowerer.type(n));
            case Expression.Variable v -> variable(v);
            case Expression.MapName _, Expression.MapElement _ -> lowerer.maps().read(e);
            case Expression.Call c -> lowerer.calls().value(c);
            case Expression.Unary u -> lowerer.operators().unary(u);
            case Expression.Binary b -> lowerer.operators().binary(b);
            case Expression.Ternary t -> lowerer.statements().ternary(t);
            case Expression.If i -> lowerer.statements().conditional(i);
            case Expression.Block b -> lowerer.statements().blockValue(b);
            case Expression.Field f -> field(f);
            case Expression.TupleElement t -> tupleElement(t);
            case Expression.Index i -> index(i);
            case Expression.Cast c -> cast(c);
            case Expression.Tuple _, Expression.RecordLiteral _, Expression.TypeDescription _ ->
                    lowerer.placed(e, lowerer.type(e));
            case Expression.Comptime c -> lowerer.value(c.operand());
            case Expression.SizeOf _,
                    Expression.OffsetOf _,
                    Expression.Positional _,
                    Expression.PositionalCount _,
                    Expression.TypeArgument _ ->
                    throw new IllegalStateException(e.span() + ": not known");
        };
    }

    /** Where a member lies, or how large a structure of the kernel is; null for other values. */
    private @Nullable Value measured(Expression e) {
        return switch (e) {
            case Expression.SizeOf s -> lowerer.portable().measured(s.type(), List.of());
            case Expression.OffsetOf o -> lowerer.portable().measured(o.type(), o.path());
            default -> null;
        };
    }

    private Value constant(Object known) {
        return switch (known) {
            case Long n -> Value.of(n);
            case Boolean b -> Value.of(b ? 1 : 0);
            default -> lowerer.texts().literal(known.toString());
        };
    }

    private Value variable(Expression.Variable v) {
        Storage storage = lowerer.storage(lowerer.clause().variable(v));
        if (storage instanceof Storage.Register r) {
            // What follows in the same expression may write the variable: $x + $x++.
            Vreg now = emit().function().register(r.register().kind(), "");
            emit().set(now, r.register());
            return Value.of(now);
        }
        return read(lowerer.place(storage), lowerer.type(v));
    }

    /** A number that is read from a place, or the place. */
    Value read(Place place, Type type) {
        return Memory.isNumber(type) ? Value.of(lowerer.memory().load(place, type)) : place;
    }

    /** An element of an array, as it is read. */
    private Value read(Place place, Type element, Type type) {
        return Memory.isNumber(type) ? read(place, type) : characters(place, element, type);
    }

    /** Where what an address points to lies. */
    Place at(Value address, Type.Space space) {
        Operand operand =
                switch (address) {
                    case Number n -> n.operand();
                    case Place p -> emit().address(p);
                };
        return new Place(emit().register(operand), 0, where(space));
    }

    private static Where where(Type.Space space) {
        return switch (space) {
            case KERNEL, TYPED -> Where.KERNEL;
            case USER -> Where.USER;
            case OWN -> Where.OWN;
        };
    }

    private Value field(Expression.Field f) {
        return field(f, lowerer.type(f));
    }

    /** As a type; as void, where it lies. */
    private Value field(Expression.Field f, Type as) {
        List<String> path = new ArrayList<>(List.of(f.name()));
        Expression.Field first = f;
        // Structures without a name are found by the member that they are.
        while (lowerer.portable().isWanted()
                && lowerer.type(first.of()) instanceof Struct struct
                && struct.name().isEmpty()
                && first.of() instanceof Expression.Field outer) {
            first = outer;
            path.addFirst(outer.name());
        }
        Value of = lowerer.value(first.of());
        Type type = lowerer.type(first.of());
        while (type instanceof Type.Pointer p) {
            of = read(at(of, p.space()), p.to());
            type = p.to();
        }
        if (!(type instanceof Composite composite) || !(of instanceof Place place)) {
            throw new IllegalStateException(f.span() + ": no member");
        }
        Portable.Root root = lowerer.portable().root(composite, place, f.span());
        Field field = field(composite, path, f);
        return root == null
                ? member(place, field, as)
                : lowerer.portable().member(place, root, path, field, as);
    }

    /** The last member of a path, counted from its start. */
    private Field field(Composite of, List<String> path, Expression.Field f) {
        Field found = null;
        Type type = of;
        for (String name : path) {
            if (!(type instanceof Composite composite)
                    || !(lowerer.clause().site().field(composite, name) instanceof Field next)) {
                throw new IllegalStateException(f.span() + ": no member");
            }
            long start = found == null ? 0 : found.bitOffset();
            found =
                    new Field(
                            name, next.type(), start + next.bitOffset(), next.bits(), next.place());
            type = next.type();
        }
        if (found == null) {
            throw new IllegalStateException(f.span() + ": no member");
        }
        return found;
    }

    /** A member of what lies at a place. */
    Value member(Place place, Field field, Type type) {
        Place handed = handed(place, field);
        if (handed != null) {
            Field there = new Field(field.name(), field.type(), 0);
            return member(handed, there, type);
        }
        if (field.place() != Field.Place.HERE) {
            return distant(place, place.plus(field.offsetBytes()), field, type);
        }
        if (Memory.isNumber(type)) {
            return Value.of(lowerer.memory().load(place, field, type));
        }
        return characters(place.plus(field.offsetBytes()), field.type(), type);
    }

    /** Where a parameter is that is not in one register; null for other members. */
    private @Nullable Place handed(Place context, Field field) {
        return switch (field.place()) {
            case HERE, CLOSED, DATA_LOC, RELATIVE_LOC -> null;
            case REGISTERS -> {
                Place own = lowerer.memory().own(2 * Long.BYTES, Long.BYTES);
                int first = field.offsetBytes();
                int second = Registers.nextArgument(first);
                lowerer.memory().copy(context.plus(first), Long.BYTES, own);
                lowerer.memory().copy(context.plus(second), Long.BYTES, own.plus(Long.BYTES));
                yield own;
            }
            case REFERENCE -> {
                Vreg to = lowerer.memory().load(context.plus(field.offsetBytes()), Type.Int.U64);
                yield new Place(to, 0, Where.USER);
            }
            case STACK -> {
                Place pointer = context.plus(Registers.stackPointer());
                Vreg top = lowerer.memory().load(pointer, Type.Int.U64);
                yield new Place(top, field.offsetBytes(), Where.USER);
            }
        };
    }

    /** Characters become a text with a NUL behind them. */
    Place characters(Place place, Type of, Type type) {
        if (!(of instanceof Type.Array array) || !(type instanceof Type.Text)) {
            return place;
        }
        Place own = lowerer.memory().own(type);
        lowerer.memory().zero(own, type.sizeBytes());
        if (place.where() == Where.OWN) {
            lowerer.memory().copy(place, array.sizeBytes(), own);
            return own;
        }
        // What lies behind the NUL of a kernel's text is left out: keys compare all bytes.
        int helper =
                place.where() == Where.USER
                        ? KernelFunction.PROBE_READ_USER_STR
                        : KernelFunction.PROBE_READ_KERNEL_STR;
        Block nothing = emit().block();
        lowerer.memory().skipNull(place, nothing);
        Vreg result =
                emit().call(
                                helper,
                                emit().address(own),
                                Operand.of(array.sizeBytes() + 1L),
                                emit().address(place));
        lowerer.errors().check(result, helper);
        emit().start(nothing);
        return own;
    }

    /** What 4 bytes say the offset of: __data_loc, __rel_loc. */
    Value distant(Place event, Place at, Field field, Type type) {
        Vreg word = lowerer.memory().load(at, Type.Int.U32);
        Vreg offset = emit().alu(AluOperation.AND, word, 0xffff);
        boolean relative = field.place() == Field.Place.RELATIVE_LOC;
        Place start = relative ? at.plus(4) : event;
        Vreg address = emit().alu(AluOperation.ADD, emit().address(start), offset);
        if (type instanceof Type.Text) {
            Place own = lowerer.memory().own(type);
            lowerer.memory().zero(own, type.sizeBytes());
            emit().run(
                            KernelFunction.PROBE_READ_KERNEL_STR,
                            emit().address(own),
                            Operand.of(type.sizeBytes()),
                            address);
            return own;
        }
        return type instanceof Type.Pointer || type instanceof Type.Int
                ? Value.of(address)
                : new Place(address, 0, Where.KERNEL);
    }

    private Value tupleElement(Expression.TupleElement t) {
        return element(t.of(), t.index(), lowerer.type(t));
    }

    private Value element(Expression of, int index, Type type) {
        if (!(lowerer.type(of) instanceof Tuple tuple)
                || !(lowerer.value(of) instanceof Place place)) {
            throw new IllegalStateException(of.span() + ": no tuple");
        }
        return read(place.plus(tuple.fields().get(index).offsetBytes()), type);
    }

    private Value index(Expression.Index i) {
        Type of = lowerer.type(i.of());
        Type type = lowerer.type(i);
        if (of instanceof Tuple) {
            return element(i.of(), (int) ((Expression.IntegerLiteral) i.index()).value(), type);
        }
        Value base = lowerer.value(i.of());
        Type element =
                switch (of) {
                    case Type.Array a -> a.element();
                    case Type.Pointer p -> p.to();
                    default -> Type.Int.I8;
                };
        Place start =
                of instanceof Type.Pointer p
                        ? at(base, p.space())
                        : base instanceof Place place ? place : at(base, Type.Space.KERNEL);
        int size = Math.max(1, element.sizeBytes());
        Operand index = lowerer.number(i.index(), Type.Int.I64);
        Operand bytes =
                start.where() == Where.KERNEL
                        ? lowerer.portable().size(element, size)
                        : Operand.of(size);
        if (bytes instanceof Operand.Number
                && index instanceof Operand.Number n
                && Math.abs(n.value()) < 1 << 24) {
            return read(start.plus((int) (n.value() * size)), element, type);
        }
        return elementAt(start, index, bytes, of, type);
    }

    private Value elementAt(Place start, Operand index, Operand size, Type of, Type type) {
        boolean bounded =
                !(of instanceof Type.Pointer)
                        && start.where() != Where.KERNEL
                        && start.where() != Where.USER;
        int count = of instanceof Type.Array a ? a.count() : of.sizeBytes();
        if (!bounded) {
            if (of instanceof Type.Array && count > 0) {
                Block fine = emit().block();
                emit().when(Condition.LESS, emit().register(index), count, fine);
                lowerer.errors().fault(RuntimeFault.ARRAY_OUT_OF_BOUNDS);
                emit().start(fine);
            }
            return read(shifted(start, index, size), type);
        }
        Place result = lowerer.memory().own(Math.max(8, type.sizeBytes()), 8);
        lowerer.memory().zero(result, Math.max(8, type.sizeBytes()));
        Block done = emit().block();
        Block wrong = emit().block();
        Vreg number = emit().copy(index);
        emit().when(Condition.GREATER_OR_EQUAL, number, count, wrong);
        Place found = shifted(start, number, size);
        if (Memory.isNumber(type)) {
            lowerer.memory().store(result, type, lowerer.memory().load(found, type));
        } else {
            lowerer.memory().copy(found, type.sizeBytes(), result);
        }
        emit().go(done);
        emit().start(wrong);
        lowerer.errors().fault(RuntimeFault.ARRAY_OUT_OF_BOUNDS);
        emit().start(done);
        return read(result, type);
    }

    private Place shifted(Place start, Operand index, Operand size) {
        Vreg offset = emit().alu(AluOperation.MULTIPLY, index, size);
        Vreg address = emit().alu(AluOperation.ADD, emit().address(start), offset);
        return new Place(address, 0, start.where());
    }

    private Value cast(Expression.Cast c) {
        Type from = lowerer.type(c.operand());
        Type to = lowerer.type(c);
        if (to instanceof Type.Pointer && from instanceof Type.Int i) {
            Type unsigned = new Type.Int(i.sizeBytes(), false);
            return new Number(lowerer.number(c.operand(), unsigned));
        }
        if (to instanceof Type.Pointer && from instanceof Type.Text) {
            return Value.of(emit().address(characters(c.operand())));
        }
        if (Memory.isNumber(to)) {
            return new Number(lowerer.number(c.operand(), to));
        }
        Value value = lowerer.value(c.operand());
        if (value instanceof Place place) {
            return place;
        }
        if (from.equals(to)) {
            return value;
        }
        Place memory = lowerer.memory().own(Math.max(8, to.sizeBytes()), 8);
        lowerer.memory().zero(memory, Math.max(8, to.sizeBytes()));
        lowerer.memory().store(memory, new Type.Int(8, false), ((Number) value).operand());
        return memory;
    }

    /** Where the characters of a text lie: those of a structure where it lies itself. */
    private Place characters(Expression text) {
        return text instanceof Expression.Field f
                        && field(f, new Type.Void()) instanceof Place place
                ? place
                : lowerer.texts().near(text);
    }

    /** Writes a value to one's own memory as a type. */
    void into(Expression e, Type type, Place to) {
        Type from = lowerer.type(e);
        if (Memory.isNumber(type)) {
            lowerer.memory().store(to, type, lowerer.number(e, type));
            return;
        }
        Object known = lowerer.clause().value(e);
        if (known == null || known instanceof Type) {
            switch (e) {
                case Expression.StringLiteral s when type instanceof Type.Text -> {
                    lowerer.texts().write(s.bytes(), type.sizeBytes(), to);
                    return;
                }
                case Expression.Tuple t when type instanceof Tuple tuple -> {
                    tuple(t.elements(), tuple, to);
                    return;
                }
                case Expression.RecordLiteral r when type instanceof Tuple tuple -> {
                    record(r, tuple, to);
                    return;
                }
                case Expression.Name n when lowerer.context().into(n, from, type, to) -> {
                    return;
                }
                case Expression.Call c when lowerer.calls().into(c, from, type, to) -> {
                    return;
                }
                case Expression.TypeDescription _ -> {
                    described(e, (Tuple) type, to);
                    return;
                }
                default -> {}
            }
        }
        if (lowerer.value(e) instanceof Place place) {
            convert(place, from, type, to);
        } else {
            throw new IllegalStateException(e.span() + ": " + from + " is no " + type);
        }
    }

    private void described(Expression e, Tuple type, Place to) {
        if (!(lowerer.clause().value(e) instanceof Type of)) {
            throw new IllegalStateException(e.span() + ": no type");
        }
        lowerer.memory().zero(to, type.sizeBytes());
        List<Field> fields = type.fields();
        lowerer.texts()
                .write(
                        Comptimes.family(of),
                        fields.get(1).type().sizeBytes(),
                        to.plus(fields.get(1).offsetBytes()));
        lowerer.texts()
                .write(
                        of.toString(),
                        fields.get(2).type().sizeBytes(),
                        to.plus(fields.get(2).offsetBytes()));
    }

    private void tuple(List<Expression> elements, Tuple type, Place to) {
        gaps(type, to);
        for (int i = 0; i < elements.size(); i++) {
            Field field = type.fields().get(i);
            lowerer.into(elements.get(i), field.type(), to.plus(field.offsetBytes()));
        }
    }

    private void record(Expression.RecordLiteral r, Tuple type, Place to) {
        gaps(type, to);
        for (Expression.RecordLiteral.Member member : r.members()) {
            if (type.field(member.name()) instanceof Field field) {
                lowerer.into(member.value(), field.type(), to.plus(field.offsetBytes()));
            }
        }
    }

    /** Bytes between members count in comparisons of keys. */
    private void gaps(Tuple type, Place to) {
        int used = type.fields().stream().mapToInt(f -> f.type().sizeBytes()).sum();
        if (used != type.sizeBytes()) {
            lowerer.memory().zero(to, type.sizeBytes());
        }
    }

    /** Copies a value of one type to memory for another that holds it. */
    void convert(Place from, Type type, Type as, Place to) {
        lowerer.portable().refuseWhole(from, type);
        if (Memory.isNumber(as)) {
            Operand number = lowerer.numbers().convert(read(from, type), type, as);
            lowerer.memory().store(to, as, number);
            return;
        }
        if (type instanceof Tuple a && as instanceof Tuple b && !a.equals(b)) {
            gaps(b, to);
            for (int i = 0; i < b.fields().size(); i++) {
                Field target = b.fields().get(i);
                Field source = b.named() ? a.field(target.name()) : a.fields().get(i);
                if (source != null) {
                    convert(
                            from.plus(source.offsetBytes()),
                            source.type(),
                            target.type(),
                            to.plus(target.offsetBytes()));
                }
            }
            return;
        }
        int size = Math.min(type.sizeBytes(), as.sizeBytes());
        lowerer.memory().copy(from, size, to);
        if (as.sizeBytes() > size) {
            lowerer.memory().zero(to.plus(size), as.sizeBytes() - size);
        }
    }
}
