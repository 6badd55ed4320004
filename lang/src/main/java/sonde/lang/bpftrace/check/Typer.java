package sonde.lang.bpftrace.check;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.Nearest;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.Block;
import sonde.lang.bpftrace.syntax.Statement;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.source.Span;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;

/** Finds the types of one clause, a round at a time. */
final class Typer {
    private static final Type VOID = new Type.Void();

    private final Globals globals;
    private final Clause clause;
    private final OperatorTypes operators = new OperatorTypes(this);
    private final FieldTypes fields = new FieldTypes(this);
    private final CallTypes calls = new CallTypes(this);
    private final TypeReader reader = new TypeReader(this);
    private final Comptimes comptimes = new Comptimes(this);
    private final Map<Block, Map<String, VariableSymbol>> variables = new IdentityHashMap<>();
    private final Deque<Block> scopes = new ArrayDeque<>();
    private final Deque<Integer> loops = new ArrayDeque<>();
    private int loopBodies;
    private int loopDepth;
    private int dead;

    Typer(Globals globals, Clause clause) {
        this.globals = globals;
        this.clause = clause;
    }

    Globals globals() {
        return globals;
    }

    Clause clause() {
        return clause;
    }

    Site site() {
        return clause.site();
    }

    TypeReader reader() {
        return reader;
    }

    Comptimes comptimes() {
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
    @Nullable Type type(Expression e) {
        Type type = compute(e);
        clause.type(e, type);
        return type;
    }

    private @Nullable Type compute(Expression e) {
        return switch (e) {
            case Expression.IntegerLiteral n -> Promotion.literal(n.value(), false);
            case Expression.StringLiteral s -> new Type.Text(s.bytes().length() + 1);
            case Expression.BooleanLiteral _ -> new Type.Bool();
            case Expression.Name n -> name(n);
            case Expression.Positional p ->
                    globals.error(p.span(), "parameter " + p.span().text() + " is not known");
            case Expression.PositionalCount _ -> Int.I64;
            case Expression.Variable v -> variable(v);
            case Expression.MapName m -> map(m);
            case Expression.MapElement m -> {
                Type type = element(m);
                yield globals.isRead(globals.map(m.map().name()), m.span()) ? type : null;
            }
            case Expression.Call c -> calls.of(c);
            case Expression.TypeArgument t -> reader.type(t.type());
            case Expression.Unary u -> operators.unary(u);
            case Expression.Binary b -> operators.binary(b);
            case Expression.Ternary t -> ternary(t);
            case Expression.If i -> conditional(i);
            case Block b -> block(b);
            case Expression.Field f -> fields.field(f);
            case Expression.TupleElement t -> fields.element(t);
            case Expression.Index i -> fields.index(i);
            case Expression.Cast c -> fields.cast(c);
            case Expression.Tuple t -> tuple(t);
            case Expression.RecordLiteral r -> literal(r);
            case Expression.SizeOf s -> {
                Type type = reader.type(s.type());
                clause.value(s, type == null ? null : (Object) (long) type.sizeBytes());
                yield type == null ? null : Promotion.literal(type.sizeBytes(), false);
            }
            case Expression.OffsetOf o -> {
                int offset = Members.offset(o, this);
                clause.value(o, (long) offset);
                yield offset < 0 ? null : Int.U64;
            }
            case Expression.TypeDescription d -> {
                Type type = reader.type(d.type());
                clause.value(d, type);
                yield type == null ? null : FieldTypes.description(type);
            }
            case Expression.Comptime c -> comptime(c);
        };
    }

    private @Nullable Type comptime(Expression.Comptime c) {
        Type type = type(c.operand());
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

    private @Nullable Type name(Expression.Name n) {
        if (BuiltinTypes.isBuiltin(n.name())) {
            return BuiltinTypes.of(n, this);
        }
        Type.Enum enumeration = globals.environment().enumeration(n.name());
        Long constant = globals.environment().constant(n.name());
        clause.value(n, constant);
        if (enumeration != null) {
            return new Type.Enum(enumeration.name(), 8, enumeration.signed(), enumeration.names());
        }
        if (constant != null) {
            return Promotion.literal(constant, constant < 0);
        }
        String text = globals.environment().text(n.name());
        if (text != null) {
            clause.value(n, text);
            return new Type.Text(text.length() + 1);
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
                Nearest.question(n.name(), BuiltinTypes.names()));
    }

    /** The variable that a name means here; null for none. */
    @Nullable VariableSymbol find(String name) {
        for (Block scope : scopes) {
            VariableSymbol symbol = variables.getOrDefault(scope, Map.of()).get(name);
            if (symbol != null) {
                return symbol;
            }
        }
        return null;
    }

    private VariableSymbol declare(String name) {
        Block scope = scopes.element();
        return variables
                .computeIfAbsent(scope, b -> new HashMap<>())
                .computeIfAbsent(
                        name,
                        n -> new VariableSymbol(n, scope, loops.isEmpty() ? 0 : loops.element()));
    }

    private VariableSymbol use(Expression.Variable v, VariableSymbol symbol) {
        clause.variable(v, symbol);
        if (symbol.loop() != (loops.isEmpty() ? 0 : loops.element())) {
            symbol.captured = true;
        }
        return symbol;
    }

    private @Nullable Type variable(Expression.Variable v) {
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
        Type type = use(v, symbol).type;
        return type == null && globals.isSound()
                ? globals.error(v.span(), "No type available for variable " + v.name())
                : type;
    }

    private @Nullable Type map(Expression.MapName m) {
        MapSymbol map = globals.map(m.name());
        globals.shape(map, false, m.span());
        return map.value;
    }

    /** An element, whose value is not read. */
    @Nullable Type element(Expression.MapElement m) {
        MapSymbol map = globals.map(m.map().name());
        Type key = type(m.key());
        if (globals.shape(map, true, m.span()) && key != null) {
            if (key instanceof Type.Void
                    || key instanceof Type.Aggregate && !Promotion.isNumber(key)) {
                return globals.error(m.key().span(), key + " cannot be part of a map key");
            }
            globals.key(map, key, m.span());
        }
        return map.value;
    }

    private @Nullable Type ternary(Expression.Ternary t) {
        Type condition = condition(t.condition());
        Type then = t.then() == null ? condition : type(t.then());
        Type otherwise = type(t.otherwise());
        return both(t.span(), then, otherwise);
    }

    private @Nullable Type both(Span span, @Nullable Type then, @Nullable Type otherwise) {
        if (then == null || otherwise == null) {
            return then == null ? otherwise : then;
        }
        Type promoted = Promotion.of(then, otherwise);
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

    private @Nullable Type conditional(Expression.If i) {
        if (i.condition() instanceof Expression.Comptime c) {
            Object value = comptimes.value(c.operand());
            if (value == null) {
                return globals.error(c.span(), "Unable to resolve comptime expression");
            }
            boolean kept = Comptimes.truth(value);
            clause.decide(i, kept);
            Expression branch = kept ? i.then() : i.otherwise();
            return branch == null ? VOID : type(branch);
        }
        condition(i.condition());
        Object known = comptimes.value(i.condition());
        dead += known == null || Comptimes.truth(known) ? 0 : 1;
        Type then = block(i.then());
        dead -= known == null || Comptimes.truth(known) ? 0 : 1;
        clause.type(i.then(), then);
        Expression otherwise = i.otherwise();
        if (otherwise == null) {
            return VOID;
        }
        dead += known != null && Comptimes.truth(known) ? 1 : 0;
        Type other = type(otherwise);
        dead -= known != null && Comptimes.truth(known) ? 1 : 0;
        return then instanceof Type.Void || other instanceof Type.Void
                ? VOID
                : both(i.span(), then, other);
    }

    private @Nullable Type condition(Expression e) {
        Type type = type(e);
        if (type != null && !OperatorTypes.isNumber(type) && !(type instanceof Type.Pointer)) {
            return globals.error(e.span(), "Invalid condition: " + Comptimes.family(type));
        }
        return type;
    }

    @Nullable Type block(Block b) {
        scopes.push(b);
        statements(b);
        Expression result = b.result();
        Type type = result == null ? VOID : type(result);
        scopes.pop();
        return type;
    }

    private void statements(Block b) {
        boolean left = false;
        for (Statement s : b.statements()) {
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

    private static boolean isLast(Statement s) {
        return s instanceof Statement.Jump
                || s instanceof Statement.Evaluate e
                        && e.expression() instanceof Expression.Call c
                        && c.function().equals("exit");
    }

    private void statement(Statement s) {
        switch (s) {
            case Statement.Evaluate e -> type(e.expression());
            case Statement.Discard d -> type(d.expression());
            case Statement.Assign a -> assignment(a);
            case Statement.Declare d -> declaration(d);
            case Statement.ForRange f -> range(f);
            case Statement.ForMap f -> elements(f);
            case Statement.While w -> {
                condition(w.condition());
                loopDepth++;
                block(w.body());
                loopDepth--;
            }
            case Statement.Unroll u -> {
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
            case Statement.Jump j -> jump(j);
            case Statement.Import i ->
                    globals.error(i.span(), "import of " + i.path() + " is not possible here");
        }
    }

    private void jump(Statement.Jump j) {
        Expression value = j.value();
        if (value != null) {
            Type type = type(value);
            if (type != null && !OperatorTypes.isNumber(type)) {
                globals.error(j.span(), "Probe return values can only be integers. Found " + type);
            }
        }
        if (j.kind() != Statement.Jump.Kind.RETURN && loopDepth == 0) {
            globals.error(
                    j.span(),
                    j.kind().name().toLowerCase(java.util.Locale.ROOT)
                            + " statement is not within a loop");
        }
    }

    private void assignment(Statement.Assign a) {
        if (a.operator() != null) {
            Type left = type(a.target());
            Type right = type(a.value());
            if (left == null && !(a.target() instanceof Expression.Variable)) {
                left = Int.I8;
            }
            if (left != null && right != null) {
                Type result = operators.of(a.value(), a.operator(), left, right);
                if (result != null) {
                    assign(a.target(), result, a.span());
                }
            }
            return;
        }
        if (a.value() instanceof Expression.Call c && Signature.AGGREGATES.contains(c.function())) {
            new AggregateTypes(this).assign(a, c);
            return;
        }
        if (a.value() instanceof Block b
                && b.result() instanceof Expression.Call c
                && Signature.AGGREGATES.contains(c.function())) {
            scopes.push(b);
            statements(b);
            new AggregateTypes(this).assign(a, c);
            scopes.pop();
            return;
        }
        Type type = type(a.value());
        if (type != null
                && a.target() instanceof Expression.Variable v
                && find(v.name()) instanceof VariableSymbol symbol
                && isBeyond(a.value(), symbol)) {
            globals.mismatch(use(v, symbol), type, a.span());
        } else if (type != null) {
            assign(a.target(), type, a.span());
        } else if (a.target() instanceof Expression.Variable v && find(v.name()) == null) {
            use(v, declare(v.name()));
        }
    }

    /** A value of a type goes to a variable, a map or an element. */
    void assign(Expression target, Type type, Span span) {
        switch (target) {
            case Expression.Variable v -> {
                VariableSymbol symbol = find(v.name());
                if (symbol == null) {
                    symbol = declare(v.name());
                }
                use(v, symbol);
                if (type instanceof Type.Void
                        || type instanceof Type.Aggregate && !Promotion.isNumber(type)) {
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

    private void store(MapSymbol map, Type type, Span span) {
        if (type instanceof Type.Void) {
            globals.error(span, "Value '" + type + "' cannot be assigned to a map.");
            return;
        }
        if (type instanceof Type.Aggregate
                && !(map.plain && map.value instanceof Int && Promotion.isNumber(type))) {
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
                    Promotion.isNumber(type)
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

    private void declaration(Statement.Declare d) {
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
            Type type = reader.type(d.type());
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
            Type type = type(value);
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
                && symbol.type instanceof Int i
                && n.value() >= 0
                && (i.sizeBytes() == 8
                        || n.value() >>> i.sizeBytes() * 8 - (i.signed() ? 1 : 0) == 0);
    }

    /** Whether a negative number is written where a variable with a type of its own has no room. */
    private static boolean isBeyond(Expression value, VariableSymbol symbol) {
        return value instanceof Expression.Unary u
                && u.operator() == UnaryOperator.NEGATE
                && u.operand() instanceof Expression.IntegerLiteral n
                && symbol.fixed
                && symbol.type instanceof Int i
                && (!i.signed() && n.value() != 0
                        || i.sizeBytes() < 8 && n.value() > 1L << i.sizeBytes() * 8 - 1);
    }

    private void range(Statement.ForRange f) {
        Type from = type(f.from());
        Type to = type(f.to());
        if (from != null && !(from instanceof Int)) {
            globals.error(f.from().span(), "Loop range requires an integer for the start value");
            return;
        }
        if (to != null && !(to instanceof Int)) {
            globals.error(f.to().span(), "Loop range requires an integer for the end value");
            return;
        }
        Type type = from == null || to == null ? null : Promotion.integers((Int) from, (Int) to);
        body(f, f.variable(), type, f.body());
    }

    private void elements(Statement.ForMap f) {
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
        Type type =
                map.key == null || map.value == null
                        ? null
                        : Tuple.of(List.of(map.key, number(map.value)));
        if (map.value instanceof Type.Aggregate && !Promotion.isNumber(map.value)) {
            globals.error(f.map().span(), "Loop expression does not support type: " + map.value);
        }
        body(f, f.variable(), type, f.body());
    }

    private void body(Statement f, Expression.Variable v, @Nullable Type type, Block body) {
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

    private @Nullable Type tuple(Expression.Tuple t) {
        List<Type> types = new ArrayList<>();
        for (Expression e : t.elements()) {
            Type type = type(e);
            if (type == null) {
                return null;
            }
            types.add(member(e, type, "tuple"));
        }
        return Tuple.of(types);
    }

    private @Nullable Type literal(Expression.RecordLiteral r) {
        List<String> names = new ArrayList<>();
        List<Type> types = new ArrayList<>();
        for (Expression.RecordLiteral.Member m : r.members()) {
            Type type = type(m.value());
            if (type == null) {
                return null;
            }
            names.add(m.name());
            types.add(member(m.value(), type, "record"));
        }
        return Tuple.ofRecord(names, types);
    }

    private Type member(Expression e, Type type, String of) {
        if (type instanceof Type.Aggregate && !Promotion.isNumber(type)) {
            globals.error(e.span(), "Map type " + type + " cannot exist inside a " + of + ".");
        }
        return number(type);
    }

    private static Type number(Type type) {
        return type instanceof Type.Aggregate && Promotion.isNumber(type)
                ? new Int(8, Promotion.isSigned(type))
                : type;
    }

    /** Whose memory an address means that no type says it of. */
    Space spaceOf(Expression e) {
        if (e instanceof Expression.Call c && c.function().equals("kptr")) {
            return Space.KERNEL;
        }
        if (e instanceof Expression.Call c && c.function().equals("uptr")) {
            return Space.USER;
        }
        return site().space();
    }
}
