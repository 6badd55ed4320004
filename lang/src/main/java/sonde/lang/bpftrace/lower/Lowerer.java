package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import sonde.lang.bpftrace.check.Clause;
import sonde.lang.bpftrace.check.VariableSymbol;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Function;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Vreg;
import sonde.lang.source.Span;
import sonde.lang.type.Field;
import sonde.lang.type.Type;

/** One program: what the families of nodes share while they are lowered. */
final class Lowerer {
    private final Unit unit;
    private final Clause clause;
    private final ProgramSite site;
    private final int number;
    private final Frame frame;
    private final Memory memory = new Memory(this);
    private final Numbers numbers = new Numbers(this);
    private final Texts texts = new Texts(this);
    private final Operators operators = new Operators(this);
    private final Expressions expressions = new Expressions(this);
    private final ContextReads context = new ContextReads(this);
    private final Maps maps = new Maps(this);
    private final Aggregates aggregates = new Aggregates(this);
    private final Calls calls = new Calls(this);
    private final Outputs outputs = new Outputs(this);
    private final Loops loops = new Loops(this);
    private final Statements statements = new Statements(this);
    private final Errors errors = new Errors(this);
    private final Portable portable;
    private final Map<VariableSymbol, Storage> storages = new IdentityHashMap<>();
    private final Map<Expression.Block, List<VariableSymbol>> scopes = new IdentityHashMap<>();
    private Body body;

    Lowerer(Unit unit, Clause clause, ProgramSite site, String name) {
        this.unit = unit;
        this.clause = clause;
        this.site = site;
        this.number = unit.addProgram();
        this.portable = new Portable(this);
        this.frame =
                new Frame(
                        unit.options().stackLimit(),
                        cpuMask(unit.options().cpus()),
                        unit.frameStart(),
                        portable.isWanted(),
                        clause.site().kind().isInterruptible());
        this.body = new Body(new Function(name, List.of(Vreg.Kind.POINTER)), null);
    }

    /** The power of two above the highest CPU, less one. */
    static int cpuMask(int cpus) {
        return Integer.highestOneBit(Math.max(1, cpus * 2 - 1)) - 1;
    }

    /** Lowers the clause. */
    Function run() {
        statements.program();
        frame.finish();
        unit.addFrame(frame.sizeBytes());
        return body.function();
    }

    Unit unit() {
        return unit;
    }

    Clause clause() {
        return clause;
    }

    ProgramSite site() {
        return site;
    }

    /** Number of the program, for what it loses. */
    int number() {
        return number;
    }

    Frame frame() {
        return frame;
    }

    Body body() {
        return body;
    }

    void body(Body other) {
        body = other;
    }

    Emitter emit() {
        return body.emit();
    }

    Memory memory() {
        return memory;
    }

    Numbers numbers() {
        return numbers;
    }

    Texts texts() {
        return texts;
    }

    Operators operators() {
        return operators;
    }

    ContextReads context() {
        return context;
    }

    Maps maps() {
        return maps;
    }

    Aggregates aggregates() {
        return aggregates;
    }

    Calls calls() {
        return calls;
    }

    Outputs outputs() {
        return outputs;
    }

    Loops loops() {
        return loops;
    }

    Statements statements() {
        return statements;
    }

    Errors errors() {
        return errors;
    }

    Portable portable() {
        return portable;
    }

    /** What 4 bytes at a place say the offset of, from the start of an event. */
    Value distant(Place event, Place word, Field field, Type type) {
        return expressions.distant(event, word, field, type);
    }

    /** Characters become a text with a NUL behind them. */
    Value characters(Place place, Type of, Type type) {
        return expressions.characters(place, of, type);
    }

    Type type(Expression e) {
        return clause.type(e);
    }

    /** What an expression is worth, in its own type. */
    Value value(Expression e) {
        Span before = emit().function().place();
        emit().function().from(e.span());
        Value value = expressions.value(e);
        emit().function().from(before);
        return value;
    }

    /** What lies where an address points. */
    Value read(Value address, Type.Space space, Type type) {
        return expressions.read(expressions.at(address, space), type);
    }

    /** Copies a value of one type to memory for another that holds it. */
    void convert(Place from, Type type, Type as, Place to) {
        expressions.convert(from, type, as, to);
    }

    /** A number that lies at a place, or the place. */
    Value read(Place place, Type type) {
        return expressions.read(place, type);
    }

    /** A member of what lies at a place. */
    Value member(Place place, Field field, Type type) {
        return expressions.member(place, field, type);
    }

    /** An expression as a number of a type. */
    Operand number(Expression e, Type to) {
        return numbers.convert(value(e), type(e), to);
    }

    /** An expression as a number of its own type; of an aggregate what it is together. */
    Operand number(Expression e) {
        Type type = type(e);
        return number(e, type instanceof Type.Aggregate ? Type.Int.I64 : type);
    }

    /** Writes an expression's value to one's own memory as a type. */
    void into(Expression e, Type type, Place to) {
        Span before = emit().function().place();
        emit().function().from(e.span());
        expressions.into(e, type, to);
        emit().function().from(before);
    }

    /** An expression's value in one's own memory as a type. */
    Place placed(Expression e, Type type) {
        Place to = memory.own(type);
        into(e, type, to);
        return to;
    }

    Storage storage(VariableSymbol symbol) {
        Storage known = storages.get(symbol);
        if (known != null) {
            return known;
        }
        Type type = symbol.type();
        Storage made;
        if (symbol.isInMemory()) {
            made = new Storage.Shared(frame.reserve(Math.max(8, type.sizeBytes())));
        } else if (Memory.isNumber(type)) {
            Vreg.Kind kind =
                    type instanceof Type.Pointer p && p.space() == Type.Space.OWN
                            ? Vreg.Kind.POINTER
                            : Vreg.Kind.SCALAR;
            made = new Storage.Register(emit().function().register(kind, symbol.name()));
        } else if (type.sizeBytes() <= unit.options().stackLimit()) {
            made = new Storage.Stack(memory.own(type));
        } else {
            made = new Storage.Shared(frame.reserve(type.sizeBytes()));
        }
        store(symbol, made);
        return made;
    }

    /** The memory of a block's variables was given back. */
    void forget(Expression.Block block) {
        List<VariableSymbol> gone = scopes.remove(block);
        if (gone != null) {
            gone.forEach(storages::remove);
        }
    }

    void store(VariableSymbol symbol, Storage storage) {
        scopes.computeIfAbsent(symbol.scope(), b -> new ArrayList<>()).add(symbol);
        storages.put(symbol, storage);
    }

    /** The memory of a variable that has some. */
    Place place(Storage storage) {
        return switch (storage) {
            case Storage.Stack s -> s.place();
            case Storage.Shared s -> frame.at(emit().function(), s.offset());
            case Storage.Register r -> throw new IllegalStateException(r + " is no memory");
        };
    }
}
