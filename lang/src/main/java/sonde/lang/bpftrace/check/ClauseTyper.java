package sonde.lang.bpftrace.check;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.NearestNames;
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
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.JumpStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.LocalImport;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/** Finds the types of one clause, a round at a time. */
final class ClauseTyper {
    /** BPF_MAX_LOOPS (kernel/bpf/bpf_iter.c). */
    private static final long MOST_ROUNDS = 1 << 23;

    private static final ValueType VOID = new VoidType();

    private final GlobalTypes globals;
    private final ScriptClause clause;
    private final OperatorTypes operators = new OperatorTypes(this);
    private final FieldTypes fields = new FieldTypes(this);
    private final CallTypes calls = new CallTypes(this);
    private final TypeReader reader = new TypeReader(this);
    private final ComptimeValues comptimes = new ComptimeValues(this);
    private final Map<BlockExpression, Map<String, VariableSymbol>> variables =
            new IdentityHashMap<>();
    private final Deque<BlockExpression> scopes = new ArrayDeque<>();
    private final Deque<Integer> loops = new ArrayDeque<>();
    private int loopBodies;
    private int loopDepth;
    private int dead;

    ClauseTyper(GlobalTypes globals, ScriptClause clause) {
        this.globals = globals;
        this.clause = clause;
    }

    GlobalTypes globals() {
        return globals;
    }

    ScriptClause clause() {
        return clause;
    }

    ProbeSite site() {
        return clause.site();
    }

    TypeReader reader() {
        return reader;
    }

    ComptimeValues comptimes() {
        return comptimes;
    }

    /** Whether this code is known never to run. */
    boolean isDead() {
        return dead > 0;
    }

    boolean isInLoop() {
        return loopDepth > 0;
    }

    /** One round. */
    void run() {
        scopes.push(clause.probe().body());
        Expression predicate = clause.probe().predicate();
        if (predicate != null) {
            condition(predicate);
        }
        statements(clause.probe().body());
        scopes.pop();
    }

    /** What an expression is; null when it is not known yet, or wrong. */
    @Nullable ValueType type(Expression e) {
        ValueType type = compute(e);
        clause.type(e, type);
        return type;
    }

    private @Nullable ValueType compute(Expression e) {
        return switch (e) {
            case Expression.IntegerLiteral n -> TypePromotion.literal(n.value(), false);
            case Expression.StringLiteral s -> new TextType(s.bytes().length() + 1);
            case Expression.BooleanLiteral _ -> new BoolType();
            case BareName n -> name(n);
            case Expression.Positional p ->
                    globals.error(p.span(), "parameter " + p.span().text() + " is not known");
            case Expression.PositionalCount _ -> IntType.I64;
            case ScratchVariable v -> variable(v);
            case Expression.MapName m -> map(m);
            case Expression.MapElement m -> {
                ValueType type = element(m);
                yield globals.isRead(globals.map(m.map().name()), m.span()) ? type : null;
            }
            case FunctionCall c -> calls.of(c);
            case Expression.TypeArgument t -> reader.type(t.type());
            case UnaryOperation u -> operators.unary(u);
            case BinaryOperation b -> operators.binary(b);
            case Expression.Ternary t -> ternary(t);
            case Expression.If i -> conditional(i);
            case BlockExpression b -> block(b);
            case MemberAccess f -> fields.field(f);
            case Expression.TupleElement t -> fields.element(t);
            case IndexAccess i -> fields.index(i);
            case TypeCast c -> fields.cast(c);
            case TupleLiteral t -> tuple(t);
            case Expression.RecordLiteral r -> literal(r);
            case Expression.SizeOf s -> {
                ValueType type = reader.type(s.type());
                clause.value(s, type == null ? null : (Object) (long) type.sizeBytes());
                yield type == null ? null : TypePromotion.literal(type.sizeBytes(), false);
            }
            case Expression.OffsetOf o -> {
                int offset = MemberOffsets.offset(o, this);
                clause.value(o, (long) offset);
                yield offset < 0 ? null : IntType.U64;
            }
            case Expression.TypeDescription d -> {
                ValueType type = reader.type(d.type());
                clause.value(d, type);
                yield type == null ? null : FieldTypes.description(type);
            }
            case Expression.Comptime c -> comptime(c);
        };
    }

    private @Nullable ValueType comptime(Expression.Comptime c) {
        ValueType type = type(c.operand());
        if (c.operand() instanceof Expression.TypeDescription) {
            return type;
        }
        Object value = comptimes.value(c.operand());
        clause.value(c, value);
        if (type != null && value == null) {
            return globals.error(c.span(), "Unable to resolve comptime expression");
        }
        return type;
    }

    private @Nullable ValueType name(BareName n) {
        if (BuiltinTypes.isBuiltin(n.name())) {
            return BuiltinTypes.of(n, this);
        }
        EnumType enumeration = globals.environment().enumeration(n.name());
        Long constant = globals.environment().constant(n.name());
        clause.value(n, constant);
        if (enumeration != null) {
            return new EnumType(enumeration.name(), 8, enumeration.signed(), enumeration.names());
        }
        if (constant != null) {
            return TypePromotion.literal(constant, constant < 0);
        }
        String text = globals.environment().text(n.name());
        if (text != null) {
            clause.value(n, text);
            return new TextType(text.length() + 1);
        }
        if (n.name().matches("sarg[0-9]")) {
            return globals.error(
                    n.span(),
                    n.name() + " is no longer part of the language",
                    "read the stack: *(uint64 *)(reg(\"sp\") + OFFSET)");
        }
        return globals.error(
                n.span(),
                "Unknown identifier: '" + n.name() + "'",
                NearestNames.question(n.name(), BuiltinTypes.names()));
    }

    /** The variable that a name means here; null for none. */
    @Nullable VariableSymbol find(String name) {
        for (BlockExpression scope : scopes) {
            VariableSymbol symbol = variables.getOrDefault(scope, Map.of()).get(name);
            if (symbol != null) {
                return symbol;
            }
        }
        return null;
    }

    private VariableSymbol declare(String name) {
        BlockExpression scope = scopes.element();
        return variables
                .computeIfAbsent(scope, b -> new HashMap<>())
                .computeIfAbsent(
                        name,
                        n -> new VariableSymbol(n, scope, loops.isEmpty() ? 0 : loops.element()));
    }

    private VariableSymbol use(ScratchVariable v, VariableSymbol symbol) {
        clause.variable(v, symbol);
        if (symbol.loop() != (loops.isEmpty() ? 0 : loops.element())) {
            symbol.captured = true;
        }
        return symbol;
    }

    private @Nullable ValueType variable(ScratchVariable v) {
        VariableSymbol symbol = find(v.name());
        if (symbol == null) {
            boolean elsewhere =
                    variables.values().stream().anyMatch(block -> block.containsKey(v.name()));
            return globals.error(
                    v.span(),
                    "Undefined or undeclared variable: " + v.name(),
                    elsewhere
                            ? "a variable lives in the block that it is assigned in: write `let "
                                    + v.name()
                                    + ";` before that block"
                            : "");
        }
        ValueType type = use(v, symbol).type;
        return type == null && globals.isSound()
                ? globals.error(v.span(), "No type available for variable " + v.name())
                : type;
    }

    private @Nullable ValueType map(Expression.MapName m) {
        MapSymbol map = globals.map(m.name());
        globals.shape(map, false, m.span());
        return map.value;
    }

    /** An element, whose value is not read. */
    @Nullable ValueType element(Expression.MapElement m) {
        MapSymbol map = globals.map(m.map().name());
        ValueType key = type(m.key());
        if (globals.shape(map, true, m.span()) && key != null) {
            if (key instanceof VoidType
                    || key instanceof AggregateType && !TypePromotion.isNumber(key)) {
                return globals.error(m.key().span(), key + " cannot be part of a map key");
            }
            globals.key(map, key, m.span());
        }
        return map.value;
    }

    private @Nullable ValueType ternary(Expression.Ternary t) {
        ValueType condition = condition(t.condition());
        ValueType then = t.then() == null ? condition : type(t.then());
        ValueType otherwise = type(t.otherwise());
        return both(t.span(), then, otherwise);
    }

    private @Nullable ValueType both(
            SourceSpan span, @Nullable ValueType then, @Nullable ValueType otherwise) {
        if (then == null || otherwise == null) {
            return then == null ? otherwise : then;
        }
        ValueType promoted = TypePromotion.of(then, otherwise);
        return promoted != null
                ? promoted
                : globals.error(
                        span,
                        "Branches must return the same type or compatible types: have '"
                                + then
                                + "' and '"
                                + otherwise
                                + "'");
    }

    private @Nullable ValueType conditional(Expression.If i) {
        if (i.condition() instanceof Expression.Comptime c) {
            Object value = comptimes.value(c.operand());
            if (value == null) {
                return globals.error(c.span(), "Unable to resolve comptime expression");
            }
            boolean kept = ComptimeValues.truth(value);
            clause.decide(i, kept);
            Expression branch = kept ? i.then() : i.otherwise();
            return branch == null ? VOID : type(branch);
        }
        condition(i.condition());
        Object known = comptimes.value(i.condition());
        dead += known == null || ComptimeValues.truth(known) ? 0 : 1;
        ValueType then = block(i.then());
        dead -= known == null || ComptimeValues.truth(known) ? 0 : 1;
        clause.type(i.then(), then);
        Expression otherwise = i.otherwise();
        if (otherwise == null) {
            return VOID;
        }
        dead += known != null && ComptimeValues.truth(known) ? 1 : 0;
        ValueType other = type(otherwise);
        dead -= known != null && ComptimeValues.truth(known) ? 1 : 0;
        return then instanceof VoidType || other instanceof VoidType
                ? VOID
                : both(i.span(), then, other);
    }

    private @Nullable ValueType condition(Expression e) {
        ValueType type = type(e);
        if (type != null && !OperatorTypes.isNumber(type) && !(type instanceof PointerType)) {
            return globals.error(e.span(), "Invalid condition: " + ComptimeValues.family(type));
        }
        return type;
    }

    @Nullable ValueType block(BlockExpression b) {
        scopes.push(b);
        statements(b);
        Expression result = b.result();
        ValueType type = result == null ? VOID : type(result);
        scopes.pop();
        return type;
    }

    private void statements(BlockExpression b) {
        boolean left = false;
        for (ScriptStatement s : b.statements()) {
            if (left) {
                globals.warning(s.span(), "Unreachable statement.", "");
                left = false;
            }
            statement(s);
            left = isLast(s);
        }
        Expression result = b.result();
        if (left && result != null) {
            globals.warning(result.span(), "Unreachable statement.", "");
        }
    }

    private static boolean isLast(ScriptStatement s) {
        return s instanceof JumpStatement
                || s instanceof ScriptStatement.Evaluate e
                        && e.expression() instanceof FunctionCall c
                        && c.function().equals("exit");
    }

    private void statement(ScriptStatement s) {
        switch (s) {
            case ScriptStatement.Evaluate e -> type(e.expression());
            case ScriptStatement.Discard d -> type(d.expression());
            case ScriptStatement.Assign a -> assignment(a);
            case ScriptStatement.Declare d -> declaration(d);
            case ScriptStatement.ForRange f -> range(f);
            case ScriptStatement.ForMap f -> elements(f);
            case ScriptStatement.While w -> {
                condition(w.condition());
                loopDepth++;
                block(w.body());
                loopDepth--;
            }
            case ScriptStatement.Unroll u -> {
                type(u.count());
                Object count = comptimes.value(u.count());
                clause.value(u.count(), count);
                if (!(count instanceof Long n)) {
                    globals.error(u.span(), "invalid unroll value");
                } else if (n < 1) {
                    globals.error(u.span(), "unroll minimum value is 1");
                } else if (n > 100) {
                    globals.error(u.span(), "unroll maximum value is 100");
                }
                loopDepth++;
                block(u.body());
                loopDepth--;
            }
            case JumpStatement j -> jump(j);
            case LocalImport i ->
                    globals.error(i.span(), "import of " + i.path() + " is not possible here");
        }
    }

    private void jump(JumpStatement j) {
        Expression value = j.value();
        if (value != null) {
            ValueType type = type(value);
            if (type != null && !OperatorTypes.isNumber(type)) {
                globals.error(j.span(), "Probe return values can only be integers. Found " + type);
            }
        }
        if (j.kind() != JumpStatement.Kind.RETURN && loopDepth == 0) {
            globals.error(
                    j.span(),
                    j.kind().name().toLowerCase(java.util.Locale.ROOT)
                            + " statement is not within a loop");
        }
    }

    private void assignment(ScriptStatement.Assign a) {
        if (a.operator() != null) {
            ValueType left = type(a.target());
            ValueType right = type(a.value());
            if (left == null && !(a.target() instanceof ScratchVariable)) {
                left = IntType.I8;
            }
            if (left != null && right != null) {
                ValueType result = operators.of(a.value(), a.operator(), left, right);
                if (result != null) {
                    assign(a.target(), result, a.span());
                }
            }
            return;
        }
        if (a.value() instanceof FunctionCall c && CallArity.AGGREGATES.contains(c.function())) {
            new AggregateTypes(this).assign(a, c);
            return;
        }
        if (a.value() instanceof BlockExpression b
                && b.result() instanceof FunctionCall c
                && CallArity.AGGREGATES.contains(c.function())) {
            scopes.push(b);
            statements(b);
            new AggregateTypes(this).assign(a, c);
            scopes.pop();
            return;
        }
        ValueType type = type(a.value());
        if (type != null
                && a.target() instanceof ScratchVariable v
                && find(v.name()) instanceof VariableSymbol symbol
                && isBeyond(a.value(), symbol)) {
            globals.mismatch(use(v, symbol), type, a.span());
        } else if (type != null) {
            assign(a.target(), type, a.span());
        } else if (a.target() instanceof ScratchVariable v && find(v.name()) == null) {
            use(v, declare(v.name()));
        }
    }

    /** A value of a type goes to a variable, a map or an element. */
    void assign(Expression target, ValueType type, SourceSpan span) {
        switch (target) {
            case ScratchVariable v -> {
                VariableSymbol symbol = find(v.name());
                if (symbol == null) {
                    symbol = declare(v.name());
                }
                use(v, symbol);
                if (type instanceof VoidType
                        || type instanceof AggregateType && !TypePromotion.isNumber(type)) {
                    globals.error(
                            span, "Value '" + type + "' cannot be assigned to a scratch variable.");
                } else {
                    globals.store(symbol, type, span);
                }
                clause.type(v, symbol.type);
            }
            case Expression.MapName m -> {
                MapSymbol map = globals.map(m.name());
                if (globals.shape(map, false, m.span())) {
                    store(map, type, span);
                }
            }
            case Expression.MapElement m -> {
                element(m);
                store(globals.map(m.map().name()), type, span);
            }
            default -> globals.error(span, "this can not be assigned to");
        }
    }

    private void store(MapSymbol map, ValueType type, SourceSpan span) {
        if (type instanceof VoidType) {
            globals.error(span, "Value '" + type + "' cannot be assigned to a map.");
            return;
        }
        if (type instanceof AggregateType
                && !(map.plain && map.value instanceof IntType && TypePromotion.isNumber(type))) {
            String call = AggregateTypes.example(type);
            globals.error(
                    span,
                    "Map value '"
                            + type
                            + "' cannot be assigned from one map to another. The function that"
                            + " returns this type must be called directly e.g. `"
                            + map.name()
                            + " = "
                            + call
                            + ";`.",
                    TypePromotion.isNumber(type)
                            ? "Add a cast to integer if you want the value of the aggregate, e.g. `"
                                    + map.name()
                                    + " = (int64)"
                                    + span.text().replaceFirst("^[^=]*=\\s*", "").replace(";", "")
                                    + ";`."
                            : "");
            return;
        }
        globals.store(map, type, span);
    }

    private void declaration(ScriptStatement.Declare d) {
        VariableSymbol known =
                variables.getOrDefault(scopes.element(), Map.of()).get(d.variable().name());
        boolean again =
                known == null
                        ? find(d.variable().name()) != null
                        : known.declared != null && !known.declared.equals(d.span());
        if (again) {
            globals.error(
                    d.span(),
                    "Variable "
                            + d.variable().name()
                            + " was already declared. Variable shadowing is not allowed.");
        }
        VariableSymbol symbol = declare(d.variable().name());
        if (symbol.declared == null) {
            symbol.declared = d.span();
        }
        use(d.variable(), symbol);
        if (d.type() != null) {
            ValueType type = reader.type(d.type());
            if (type != null && type.sizeBytes() > 0) {
                symbol.fixed = true;
                if (!type.equals(symbol.type)) {
                    symbol.type = type;
                    globals.change();
                }
            }
        }
        Expression value = d.value();
        if (value != null) {
            ValueType type = type(value);
            if (type != null && isBeyond(value, symbol)) {
                globals.mismatch(symbol, type, d.span());
            } else if (type != null && !fits(value, symbol)) {
                assign(d.variable(), type, d.span());
            }
        }
        clause.type(d.variable(), symbol.type);
    }

    /** Whether a number that is written lies in the range of a variable with a type of its own. */
    private static boolean fits(Expression value, VariableSymbol symbol) {
        return value instanceof Expression.IntegerLiteral n
                && symbol.fixed
                && symbol.type instanceof IntType i
                && n.value() >= 0
                && (i.sizeBytes() == 8
                        || n.value() >>> i.sizeBytes() * 8 - (i.signed() ? 1 : 0) == 0);
    }

    /** Whether a negative number is written where a variable with a type of its own has no room. */
    private static boolean isBeyond(Expression value, VariableSymbol symbol) {
        return value instanceof UnaryOperation u
                && u.operator() == UnaryOperator.NEGATE
                && u.operand() instanceof Expression.IntegerLiteral n
                && symbol.fixed
                && symbol.type instanceof IntType i
                && (!i.signed() && n.value() != 0
                        || i.sizeBytes() < 8 && n.value() > 1L << i.sizeBytes() * 8 - 1);
    }

    private void range(ScriptStatement.ForRange f) {
        ValueType from = type(f.from());
        ValueType to = type(f.to());
        if (from != null && !(from instanceof IntType)) {
            globals.error(f.from().span(), "Loop range requires an integer for the start value");
            return;
        }
        if (to != null && !(to instanceof IntType)) {
            globals.error(f.to().span(), "Loop range requires an integer for the end value");
            return;
        }
        boolean tooLong =
                f.from() instanceof Expression.IntegerLiteral first
                        && f.to() instanceof Expression.IntegerLiteral last
                        && last.value() - first.value() > MOST_ROUNDS;
        if (tooLong) {
            globals.error(
                    f.span(),
                    "a for loop has at most " + MOST_ROUNDS + " rounds (BPF_MAX_LOOPS)",
                    "put one loop into another: for ($i : 0..9) { for ($j : 0..1000000) { … } }");
            return;
        }
        ValueType type =
                from == null || to == null
                        ? null
                        : TypePromotion.integers((IntType) from, (IntType) to);
        body(f, f.variable(), type, f.body());
    }

    private void elements(ScriptStatement.ForMap f) {
        MapSymbol map = globals.map(f.map().name());
        if (!globals.isDefined(map, f.map().span())) {
            return;
        }
        if (Boolean.FALSE.equals(map.keyed)) {
            globals.error(
                    f.map().span(),
                    map.name()
                            + " has no explicit keys (scalar map), and cannot be used for"
                            + " iteration");
            return;
        }
        if (map.value != null) {
            globals.shape(map, true, f.map().span());
        }
        if (!globals.isRead(map, f.map().span())) {
            return;
        }
        ValueType type =
                map.key == null || map.value == null
                        ? null
                        : TupleType.of(List.of(map.key, number(map.value)));
        if (map.value instanceof AggregateType && !TypePromotion.isNumber(map.value)) {
            globals.error(f.map().span(), "Loop expression does not support type: " + map.value);
        }
        body(f, f.variable(), type, f.body());
    }

    private void body(
            ScriptStatement f, ScratchVariable v, @Nullable ValueType type, BlockExpression body) {
        if (find(v.name()) != null) {
            globals.error(v.span(), "Loop declaration shadows existing variable: " + v.name());
        }
        scopes.push(body);
        loops.push(++loopBodies);
        loopDepth++;
        VariableSymbol symbol = clause.loops().get(f);
        if (symbol == null) {
            symbol = declare(v.name());
            clause.loops().put(f, symbol);
        } else {
            variables.computeIfAbsent(body, b -> new HashMap<>()).put(v.name(), symbol);
        }
        use(v, symbol);
        if (type != null && !type.equals(symbol.type)) {
            symbol.type = type;
            globals.change();
        }
        symbol.fixed = true;
        statements(body);
        Expression result = body.result();
        if (result != null) {
            type(result);
        }
        loopDepth--;
        loops.pop();
        scopes.pop();
        if (loops.isEmpty()) {
            loopBodies = 0;
        }
    }

    private @Nullable ValueType tuple(TupleLiteral t) {
        List<ValueType> types = new ArrayList<>();
        for (Expression e : t.elements()) {
            ValueType type = type(e);
            if (type == null) {
                return null;
            }
            types.add(member(e, type, "tuple"));
        }
        return TupleType.of(types);
    }

    private @Nullable ValueType literal(Expression.RecordLiteral r) {
        List<String> names = new ArrayList<>();
        List<ValueType> types = new ArrayList<>();
        for (RecordMember m : r.members()) {
            ValueType type = type(m.value());
            if (type == null) {
                return null;
            }
            names.add(m.name());
            types.add(member(m.value(), type, "record"));
        }
        return TupleType.ofRecord(names, types);
    }

    private ValueType member(Expression e, ValueType type, String of) {
        if (type instanceof AggregateType && !TypePromotion.isNumber(type)) {
            globals.error(e.span(), "Map type " + type + " cannot exist inside a " + of + ".");
        }
        return number(type);
    }

    private static ValueType number(ValueType type) {
        return type instanceof AggregateType && TypePromotion.isNumber(type)
                ? new IntType(8, TypePromotion.isSigned(type))
                : type;
    }

    /** The memory that an address means when its type does not say so. */
    PointerSpace spaceOf(Expression e) {
        if (e instanceof FunctionCall c && c.function().equals("kptr")) {
            return PointerSpace.KERNEL;
        }
        if (e instanceof FunctionCall c && c.function().equals("uptr")) {
            return PointerSpace.USER;
        }
        return site().space();
    }
}
