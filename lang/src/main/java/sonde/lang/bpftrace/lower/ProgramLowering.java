package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import sonde.lang.bpftrace.check.ScriptClause;
import sonde.lang.bpftrace.check.VariableSymbol;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.VariableStorage.RegisterStorage;
import sonde.lang.bpftrace.lower.VariableStorage.SharedStorage;
import sonde.lang.bpftrace.lower.VariableStorage.StackStorage;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.ir.IrFunction;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;

/** One program: what the families of nodes share while they are lowered. */
final class ProgramLowering {
    private final ScriptUnit unit;
    private final ScriptClause clause;
    private final ProgramSite site;
    private final int number;
    private final ScratchMemory frame;
    private final MemoryLowering memory = new MemoryLowering(this);
    private final NumberConversions numbers = new NumberConversions(this);
    private final TextLowering texts = new TextLowering(this);
    private final OperatorLowering operators = new OperatorLowering(this);
    private final ExpressionLowering expressions = new ExpressionLowering(this);
    private final ContextReads context = new ContextReads(this);
    private final MapLowering maps = new MapLowering(this);
    private final AggregateLowering aggregates = new AggregateLowering(this);
    private final CallLowering calls = new CallLowering(this);
    private final EventOutput outputs = new EventOutput(this);
    private final LoopLowering loops = new LoopLowering(this);
    private final StatementLowering statements = new StatementLowering(this);
    private final HelperErrors errors = new HelperErrors(this);
    private final PortableReferences portable;
    private final Map<VariableSymbol, VariableStorage> storages = new IdentityHashMap<>();
    private final Map<BlockExpression, List<VariableSymbol>> scopes = new IdentityHashMap<>();
    private FunctionWriter body;

    ProgramLowering(ScriptUnit unit, ScriptClause clause, ProgramSite site, String name) {
        this.unit = unit;
        this.clause = clause;
        this.site = site;
        this.number = unit.addProgram();
        this.portable = new PortableReferences(this);
        this.frame =
                new ScratchMemory(
                        unit.options().stackLimit(),
                        cpuMask(unit.options().cpus()),
                        unit.frameStart(),
                        portable.isWanted(),
                        clause.site().kind().isInterruptible());
        this.body =
                new FunctionWriter(
                        new IrFunction(name, List.of(VirtualRegister.Kind.POINTER)), null);
    }

    /** The power of two above the highest CPU, less one. */
    static int cpuMask(int cpus) {
        return Integer.highestOneBit(Math.max(1, cpus * 2 - 1)) - 1;
    }

    /** Lowers the clause. */
    IrFunction run() {
        statements.program();
        frame.finish();
        unit.addFrame(frame.sizeBytes());
        return body.function();
    }

    ScriptUnit unit() {
        return unit;
    }

    ScriptClause clause() {
        return clause;
    }

    ProgramSite site() {
        return site;
    }

    /** Number of the program, for what it loses. */
    int number() {
        return number;
    }

    ScratchMemory frame() {
        return frame;
    }

    FunctionWriter body() {
        return body;
    }

    void body(FunctionWriter other) {
        body = other;
    }

    OperationEmitter emit() {
        return body.emit();
    }

    MemoryLowering memory() {
        return memory;
    }

    NumberConversions numbers() {
        return numbers;
    }

    TextLowering texts() {
        return texts;
    }

    OperatorLowering operators() {
        return operators;
    }

    ContextReads context() {
        return context;
    }

    MapLowering maps() {
        return maps;
    }

    AggregateLowering aggregates() {
        return aggregates;
    }

    CallLowering calls() {
        return calls;
    }

    EventOutput outputs() {
        return outputs;
    }

    LoopLowering loops() {
        return loops;
    }

    StatementLowering statements() {
        return statements;
    }

    HelperErrors errors() {
        return errors;
    }

    PortableReferences portable() {
        return portable;
    }

    /** What 4 bytes at a place say the offset of, from the start of an event. */
    LoweredValue distant(PlaceValue event, PlaceValue word, TypeField field, ValueType type) {
        return expressions.distant(event, word, field, type);
    }

    /** Characters become a text with a NUL behind them. */
    LoweredValue characters(PlaceValue place, ValueType of, ValueType type) {
        return expressions.characters(place, of, type);
    }

    ValueType type(Expression e) {
        return clause.type(e);
    }

    /** What an expression is worth, in its own type. */
    LoweredValue value(Expression e) {
        SourceSpan before = emit().function().place();
        emit().function().from(e.span());
        LoweredValue value = expressions.value(e);
        emit().function().from(before);
        return value;
    }

    /** What lies where an address points. */
    LoweredValue read(LoweredValue address, PointerSpace space, ValueType type) {
        return expressions.read(expressions.at(address, space), type);
    }

    /** Copies a value of one type to memory for another that holds it. */
    void convert(PlaceValue from, ValueType type, ValueType as, PlaceValue to) {
        expressions.convert(from, type, as, to);
    }

    /** A number that lies at a place, or the place. */
    LoweredValue read(PlaceValue place, ValueType type) {
        return expressions.read(place, type);
    }

    /** A member of what lies at a place. */
    LoweredValue member(PlaceValue place, TypeField field, ValueType type) {
        return expressions.member(place, field, type);
    }

    /** An expression as a number of a type. */
    IrOperand number(Expression e, ValueType to) {
        return numbers.convert(value(e), type(e), to);
    }

    /** An expression as a number of its own type; of an aggregate what it is together. */
    IrOperand number(Expression e) {
        ValueType type = type(e);
        return number(e, type instanceof AggregateType ? IntType.I64 : type);
    }

    /** Writes an expression's value to one's own memory as a type. */
    void into(Expression e, ValueType type, PlaceValue to) {
        SourceSpan before = emit().function().place();
        emit().function().from(e.span());
        expressions.into(e, type, to);
        emit().function().from(before);
    }

    /** An expression's value in one's own memory as a type. */
    PlaceValue placed(Expression e, ValueType type) {
        PlaceValue to = memory.own(type);
        into(e, type, to);
        return to;
    }

    VariableStorage storage(VariableSymbol symbol) {
        VariableStorage known = storages.get(symbol);
        if (known != null) {
            return known;
        }
        ValueType type = symbol.type();
        VariableStorage made;
        if (symbol.isInMemory()) {
            made = new SharedStorage(frame.reserve(Math.max(8, type.sizeBytes())));
        } else if (MemoryLowering.isNumber(type)) {
            VirtualRegister.Kind kind =
                    type instanceof PointerType p && p.space() == PointerSpace.OWN
                            ? VirtualRegister.Kind.POINTER
                            : VirtualRegister.Kind.SCALAR;
            made = new RegisterStorage(emit().function().register(kind, symbol.name()));
        } else if (type.sizeBytes() <= unit.options().stackLimit()) {
            made = new StackStorage(memory.own(type));
        } else {
            made = new SharedStorage(frame.reserve(type.sizeBytes()));
        }
        store(symbol, made);
        return made;
    }

    /** The memory of a block's variables was given back. */
    void forget(BlockExpression block) {
        List<VariableSymbol> gone = scopes.remove(block);
        if (gone != null) {
            gone.forEach(storages::remove);
        }
    }

    void store(VariableSymbol symbol, VariableStorage storage) {
        scopes.computeIfAbsent(symbol.scope(), b -> new ArrayList<>()).add(symbol);
        storages.put(symbol, storage);
    }

    /** The memory of a variable that has some. */
    PlaceValue place(VariableStorage storage) {
        return switch (storage) {
            case StackStorage s -> s.place();
            case SharedStorage s -> frame.at(emit().function(), s.offset());
            case RegisterStorage r -> throw new IllegalStateException(r + " is not memory");
        };
    }
}
