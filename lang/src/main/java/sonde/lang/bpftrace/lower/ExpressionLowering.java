package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.lang.bpftrace.check.ComptimeValues;
import sonde.lang.bpftrace.check.PtRegs;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.NumberValue;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.PortableReferences.ReferenceFactory;
import sonde.lang.bpftrace.lower.VariableStorage.RegisterStorage;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.IndexAccess;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral.RecordMember;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.TupleLiteral;
import sonde.lang.bpftrace.syntax.Expression.TypeCast;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.output.RuntimeFault;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/** Expressions: which family each is of, members, elements, casts, tuples. */
final class ExpressionLowering {
    private final ProgramLowering lowerer;

    ExpressionLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    LoweredValue value(Expression e) {
        Object known = lowerer.clause().value(e);
        if (known != null && !(known instanceof ValueType)) {
            LoweredValue later = lowerer.portable().isWanted() ? measured(e) : null;
            return later == null ? constant(known) : later;
        }
        return switch (e) {
            case Expression.IntegerLiteral n -> LoweredValue.of(n.value());
            case Expression.StringLiteral s -> lowerer.texts().literal(s.bytes());
            case Expression.BooleanLiteral b -> LoweredValue.of(b.value() ? 1 : 0);
            case BareName n -> lowerer.context().builtin(n, lowerer.type(n));
            case ScratchVariable v -> variable(v);
            case Expression.MapName _, Expression.MapElement _ -> lowerer.maps().read(e);
            case FunctionCall c -> lowerer.calls().value(c);
            case UnaryOperation u -> lowerer.operators().unary(u);
            case BinaryOperation b -> lowerer.operators().binary(b);
            case Expression.Ternary t -> lowerer.statements().ternary(t);
            case Expression.If i -> lowerer.statements().conditional(i);
            case BlockExpression b -> lowerer.statements().blockValue(b);
            case MemberAccess f -> field(f);
            case Expression.TupleElement t -> tupleElement(t);
            case IndexAccess i -> index(i);
            case TypeCast c -> cast(c);
            case TupleLiteral _, Expression.RecordLiteral _, Expression.TypeDescription _ ->
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
    private @Nullable LoweredValue measured(Expression e) {
        return switch (e) {
            case Expression.SizeOf s -> lowerer.portable().measured(s.type(), List.of());
            case Expression.OffsetOf o -> lowerer.portable().measured(o.type(), o.path());
            default -> null;
        };
    }

    private LoweredValue constant(Object known) {
        return switch (known) {
            case Long n -> LoweredValue.of(n);
            case Boolean b -> LoweredValue.of(b ? 1 : 0);
            default -> lowerer.texts().literal(known.toString());
        };
    }

    private LoweredValue variable(ScratchVariable v) {
        VariableStorage storage = lowerer.storage(lowerer.clause().variable(v));
        if (storage instanceof RegisterStorage r) {
            // What follows in the same expression may write the variable: $x + $x++.
            VirtualRegister now = emit().function().register(r.register().kind(), "");
            emit().set(now, r.register());
            return LoweredValue.of(now);
        }
        return read(lowerer.place(storage), lowerer.type(v));
    }

    /** A number that is read from a place, or the place. */
    LoweredValue read(PlaceValue place, ValueType type) {
        return MemoryLowering.isNumber(type)
                ? LoweredValue.of(lowerer.memory().load(place, type))
                : place;
    }

    /** An element of an array, as it is read. */
    private LoweredValue read(PlaceValue place, ValueType element, ValueType type) {
        return MemoryLowering.isNumber(type) ? read(place, type) : characters(place, element, type);
    }

    /** Where what an address points to lies. */
    PlaceValue at(LoweredValue address, PointerSpace space) {
        IrOperand operand =
                switch (address) {
                    case NumberValue n -> n.operand();
                    case PlaceValue p -> emit().address(p);
                };
        return new PlaceValue(emit().register(operand), 0, where(space));
    }

    private static MemoryOwner where(PointerSpace space) {
        return switch (space) {
            case KERNEL, TYPED -> MemoryOwner.KERNEL;
            case USER -> MemoryOwner.USER;
            case OWN -> MemoryOwner.OWN;
        };
    }

    private LoweredValue field(MemberAccess f) {
        return field(f, lowerer.type(f));
    }

    /** As a type; as void, where it lies. */
    private LoweredValue field(MemberAccess f, ValueType as) {
        List<String> path = new ArrayList<>(List.of(f.name()));
        MemberAccess first = f;
        // Structures without a name are found by the member that they are.
        while (lowerer.portable().isWanted()
                && lowerer.type(first.of()) instanceof StructType struct
                && struct.name().isEmpty()
                && first.of() instanceof MemberAccess outer) {
            first = outer;
            path.addFirst(outer.name());
        }
        LoweredValue of = lowerer.value(first.of());
        ValueType type = lowerer.type(first.of());
        while (type instanceof PointerType p) {
            of = read(at(of, p.space()), p.to());
            type = p.to();
        }
        if (!(type instanceof CompositeType composite) || !(of instanceof PlaceValue place)) {
            throw new IllegalStateException(f.span() + ": no member");
        }
        ReferenceFactory root = lowerer.portable().root(composite, place, f.span());
        TypeField field = field(composite, path, f);
        return root == null
                ? member(place, field, as)
                : lowerer.portable().member(place, root, path, field, as);
    }

    /** The last member of a path, counted from its start. */
    private TypeField field(CompositeType of, List<String> path, MemberAccess f) {
        TypeField found = null;
        ValueType type = of;
        for (String name : path) {
            if (!(type instanceof CompositeType composite)
                    || !(lowerer.clause().site().field(composite, name)
                            instanceof TypeField next)) {
                throw new IllegalStateException(f.span() + ": no member");
            }
            long start = found == null ? 0 : found.bitOffset();
            found =
                    new TypeField(
                            name, next.type(), start + next.bitOffset(), next.bits(), next.place());
            type = next.type();
        }
        if (found == null) {
            throw new IllegalStateException(f.span() + ": no member");
        }
        return found;
    }

    /** A member of what lies at a place. */
    LoweredValue member(PlaceValue place, TypeField field, ValueType type) {
        PlaceValue handed = handed(place, field);
        if (handed != null) {
            TypeField there = new TypeField(field.name(), field.type(), 0);
            return member(handed, there, type);
        }
        if (field.place() != FieldPlace.HERE) {
            return distant(place, place.plus(field.offsetBytes()), field, type);
        }
        if (MemoryLowering.isNumber(type)) {
            return LoweredValue.of(lowerer.memory().load(place, field, type));
        }
        return characters(place.plus(field.offsetBytes()), field.type(), type);
    }

    /** Where a parameter is that is not in one register; null for other members. */
    private @Nullable PlaceValue handed(PlaceValue context, TypeField field) {
        return switch (field.place()) {
            case HERE, CLOSED, DATA_LOC, RELATIVE_LOC -> null;
            case REGISTERS -> {
                PlaceValue own = lowerer.memory().own(2 * Long.BYTES, Long.BYTES);
                int first = field.offsetBytes();
                int second = PtRegs.nextArgument(first);
                lowerer.memory().copy(context.plus(first), Long.BYTES, own);
                lowerer.memory().copy(context.plus(second), Long.BYTES, own.plus(Long.BYTES));
                yield own;
            }
            case REFERENCE -> {
                VirtualRegister to =
                        lowerer.memory().load(context.plus(field.offsetBytes()), IntType.U64);
                yield new PlaceValue(to, 0, MemoryOwner.USER);
            }
            case STACK -> {
                PlaceValue pointer = context.plus(PtRegs.stackPointer());
                VirtualRegister top = lowerer.memory().load(pointer, IntType.U64);
                yield new PlaceValue(top, field.offsetBytes(), MemoryOwner.USER);
            }
        };
    }

    /** Characters become a text with a NUL behind them. */
    PlaceValue characters(PlaceValue place, ValueType of, ValueType type) {
        if (!(of instanceof ArrayType array) || !(type instanceof TextType)) {
            return place;
        }
        PlaceValue own = lowerer.memory().own(type);
        lowerer.memory().zero(own, type.sizeBytes());
        if (place.where() == MemoryOwner.OWN) {
            lowerer.memory().copy(place, array.sizeBytes(), own);
            return own;
        }
        // What lies behind the NUL of a kernel's text is left out: keys compare all bytes.
        int helper =
                place.where() == MemoryOwner.USER
                        ? HelperFunctionId.PROBE_READ_USER_STR
                        : HelperFunctionId.PROBE_READ_KERNEL_STR;
        BasicBlock nothing = emit().block();
        lowerer.memory().skipNull(place, nothing);
        VirtualRegister result =
                emit().call(
                                helper,
                                emit().address(own),
                                IrOperand.of(array.sizeBytes() + 1L),
                                emit().address(place));
        lowerer.errors().check(result, helper);
        emit().start(nothing);
        return own;
    }

    /** What 4 bytes say the offset of: __data_loc, __rel_loc. */
    LoweredValue distant(PlaceValue event, PlaceValue at, TypeField field, ValueType type) {
        VirtualRegister word = lowerer.memory().load(at, IntType.U32);
        VirtualRegister offset = emit().alu(AluOperation.AND, word, 0xffff);
        boolean relative = field.place() == FieldPlace.RELATIVE_LOC;
        PlaceValue start = relative ? at.plus(4) : event;
        VirtualRegister address = emit().alu(AluOperation.ADD, emit().address(start), offset);
        if (type instanceof TextType) {
            PlaceValue own = lowerer.memory().own(type);
            lowerer.memory().zero(own, type.sizeBytes());
            emit().run(
                            HelperFunctionId.PROBE_READ_KERNEL_STR,
                            emit().address(own),
                            IrOperand.of(type.sizeBytes()),
                            address);
            return own;
        }
        return type instanceof PointerType || type instanceof IntType
                ? LoweredValue.of(address)
                : new PlaceValue(address, 0, MemoryOwner.KERNEL);
    }

    private LoweredValue tupleElement(Expression.TupleElement t) {
        return element(t.of(), t.index(), lowerer.type(t));
    }

    private LoweredValue element(Expression of, int index, ValueType type) {
        if (!(lowerer.type(of) instanceof TupleType tuple)
                || !(lowerer.value(of) instanceof PlaceValue place)) {
            throw new IllegalStateException(of.span() + ": no tuple");
        }
        return read(place.plus(tuple.fields().get(index).offsetBytes()), type);
    }

    private LoweredValue index(IndexAccess i) {
        ValueType of = lowerer.type(i.of());
        ValueType type = lowerer.type(i);
        if (of instanceof TupleType) {
            return element(i.of(), (int) ((Expression.IntegerLiteral) i.index()).value(), type);
        }
        LoweredValue base = lowerer.value(i.of());
        ValueType element =
                switch (of) {
                    case ArrayType a -> a.element();
                    case PointerType p -> p.to();
                    default -> IntType.I8;
                };
        PlaceValue start =
                of instanceof PointerType p
                        ? at(base, p.space())
                        : base instanceof PlaceValue place ? place : at(base, PointerSpace.KERNEL);
        int size = Math.max(1, element.sizeBytes());
        IrOperand index = lowerer.number(i.index(), IntType.I64);
        IrOperand bytes =
                start.where() == MemoryOwner.KERNEL
                        ? lowerer.portable().size(element, size)
                        : IrOperand.of(size);
        if (bytes instanceof IrNumber
                && index instanceof IrNumber n
                && Math.abs(n.value()) < 1 << 24) {
            return read(start.plus((int) (n.value() * size)), element, type);
        }
        return elementAt(start, index, bytes, of, type);
    }

    private LoweredValue elementAt(
            PlaceValue start, IrOperand index, IrOperand size, ValueType of, ValueType type) {
        boolean bounded =
                !(of instanceof PointerType)
                        && start.where() != MemoryOwner.KERNEL
                        && start.where() != MemoryOwner.USER;
        int count = of instanceof ArrayType a ? a.count() : of.sizeBytes();
        if (!bounded) {
            if (of instanceof ArrayType && count > 0) {
                BasicBlock fine = emit().block();
                emit().when(JumpCondition.LESS, emit().register(index), count, fine);
                lowerer.errors().fault(RuntimeFault.ARRAY_OUT_OF_BOUNDS);
                emit().start(fine);
            }
            return read(shifted(start, index, size), type);
        }
        PlaceValue result = lowerer.memory().own(Math.max(8, type.sizeBytes()), 8);
        lowerer.memory().zero(result, Math.max(8, type.sizeBytes()));
        BasicBlock done = emit().block();
        BasicBlock wrong = emit().block();
        VirtualRegister number = emit().copy(index);
        emit().when(JumpCondition.GREATER_OR_EQUAL, number, count, wrong);
        PlaceValue found = shifted(start, number, size);
        if (MemoryLowering.isNumber(type)) {
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

    private PlaceValue shifted(PlaceValue start, IrOperand index, IrOperand size) {
        VirtualRegister offset = emit().alu(AluOperation.MULTIPLY, index, size);
        VirtualRegister address = emit().alu(AluOperation.ADD, emit().address(start), offset);
        return new PlaceValue(address, 0, start.where());
    }

    private LoweredValue cast(TypeCast c) {
        ValueType from = lowerer.type(c.operand());
        ValueType to = lowerer.type(c);
        if (to instanceof PointerType && from instanceof IntType i) {
            ValueType unsigned = new IntType(i.sizeBytes(), false);
            return new NumberValue(lowerer.number(c.operand(), unsigned));
        }
        if (to instanceof PointerType && from instanceof TextType) {
            return LoweredValue.of(emit().address(characters(c.operand())));
        }
        if (MemoryLowering.isNumber(to)) {
            return new NumberValue(lowerer.number(c.operand(), to));
        }
        LoweredValue value = lowerer.value(c.operand());
        if (value instanceof PlaceValue place) {
            return place;
        }
        if (from.equals(to)) {
            return value;
        }
        PlaceValue memory = lowerer.memory().own(Math.max(8, to.sizeBytes()), 8);
        lowerer.memory().zero(memory, Math.max(8, to.sizeBytes()));
        lowerer.memory().store(memory, new IntType(8, false), ((NumberValue) value).operand());
        return memory;
    }

    /** Where the characters of a text lie: those of a structure where it lies itself. */
    private PlaceValue characters(Expression text) {
        return text instanceof MemberAccess f
                        && field(f, new VoidType()) instanceof PlaceValue place
                ? place
                : lowerer.texts().near(text);
    }

    /** Writes a value to one's own memory as a type. */
    void into(Expression e, ValueType type, PlaceValue to) {
        ValueType from = lowerer.type(e);
        if (MemoryLowering.isNumber(type)) {
            lowerer.memory().store(to, type, lowerer.number(e, type));
            return;
        }
        Object known = lowerer.clause().value(e);
        if (known == null || known instanceof ValueType) {
            switch (e) {
                case Expression.StringLiteral s when type instanceof TextType -> {
                    lowerer.texts().write(s.bytes(), type.sizeBytes(), to);
                    return;
                }
                case TupleLiteral t when type instanceof TupleType tuple -> {
                    tuple(t.elements(), tuple, to);
                    return;
                }
                case Expression.RecordLiteral r when type instanceof TupleType tuple -> {
                    record(r, tuple, to);
                    return;
                }
                case BareName n when lowerer.context().into(n, from, type, to) -> {
                    return;
                }
                case FunctionCall c when lowerer.calls().into(c, from, type, to) -> {
                    return;
                }
                case Expression.TypeDescription _ -> {
                    described(e, (TupleType) type, to);
                    return;
                }
                default -> {}
            }
        }
        if (lowerer.value(e) instanceof PlaceValue place) {
            convert(place, from, type, to);
        } else {
            throw new IllegalStateException(e.span() + ": " + from + " is no " + type);
        }
    }

    private void described(Expression e, TupleType type, PlaceValue to) {
        if (!(lowerer.clause().value(e) instanceof ValueType of)) {
            throw new IllegalStateException(e.span() + ": no type");
        }
        lowerer.memory().zero(to, type.sizeBytes());
        List<TypeField> fields = type.fields();
        lowerer.texts()
                .write(
                        ComptimeValues.family(of),
                        fields.get(1).type().sizeBytes(),
                        to.plus(fields.get(1).offsetBytes()));
        lowerer.texts()
                .write(
                        of.toString(),
                        fields.get(2).type().sizeBytes(),
                        to.plus(fields.get(2).offsetBytes()));
    }

    private void tuple(List<Expression> elements, TupleType type, PlaceValue to) {
        gaps(type, to);
        for (int i = 0; i < elements.size(); i++) {
            TypeField field = type.fields().get(i);
            lowerer.into(elements.get(i), field.type(), to.plus(field.offsetBytes()));
        }
    }

    private void record(Expression.RecordLiteral r, TupleType type, PlaceValue to) {
        gaps(type, to);
        for (RecordMember member : r.members()) {
            if (type.field(member.name()) instanceof TypeField field) {
                lowerer.into(member.value(), field.type(), to.plus(field.offsetBytes()));
            }
        }
    }

    /** Bytes between members count in comparisons of keys. */
    private void gaps(TupleType type, PlaceValue to) {
        int used = type.fields().stream().mapToInt(f -> f.type().sizeBytes()).sum();
        if (used != type.sizeBytes()) {
            lowerer.memory().zero(to, type.sizeBytes());
        }
    }

    /** Copies a value of one type to memory for another that holds it. */
    void convert(PlaceValue from, ValueType type, ValueType as, PlaceValue to) {
        lowerer.portable().refuseWhole(from, type);
        if (MemoryLowering.isNumber(as)) {
            IrOperand number = lowerer.numbers().convert(read(from, type), type, as);
            lowerer.memory().store(to, as, number);
            return;
        }
        if (type instanceof TupleType a && as instanceof TupleType b && !a.equals(b)) {
            gaps(b, to);
            for (int i = 0; i < b.fields().size(); i++) {
                TypeField target = b.fields().get(i);
                TypeField source = b.named() ? a.field(target.name()) : a.fields().get(i);
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
