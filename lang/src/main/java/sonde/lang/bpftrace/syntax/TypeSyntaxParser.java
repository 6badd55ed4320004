package sonde.lang.bpftrace.syntax;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.ScriptToken.Kind;
import sonde.lang.bpftrace.syntax.TypeSyntax.ArraySyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.NamedSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.PointerSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.TypeofSyntax;

/** Types: {@code struct s *}, {@code int32[4]*}, {@code typeof($x)}. */
final class TypeSyntaxParser {
    /** Types of the language itself; other names may be a typedef's, a macro's, a constant's. */
    private static final Set<String> BUILTIN =
            Set.of(
                    """
                    void bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 int \
                    char short long unsigned string buffer inet timestamp macaddr_t \
                    cgroup_path_t username ksym_t usym_t kstack_t ustack_t count_t \
                    sum_t usum_t min_t umin_t max_t umax_t avg_t uavg_t stats_t \
                    ustats_t hist_t lhist_t tseries_t strerror_t\
                    """
                            .split(" "));

    private final ParserCursor cursor;
    private final ScriptExpressionParser expressions;

    TypeSyntaxParser(ParserCursor cursor, ScriptExpressionParser expressions) {
        this.cursor = cursor;
        this.expressions = expressions;
    }

    /** A type where nothing else can stand. */
    TypeSyntax type() throws SyntaxException {
        if (cursor.isWord("typeof")) {
            return typeOf();
        }
        return suffixes(named());
    }

    private TypeSyntax named() throws SyntaxException {
        ScriptToken first = cursor.expect(Kind.WORD, "a type");
        TypeSyntax.Kind kind = kind(first);
        if (kind == TypeSyntax.Kind.PLAIN) {
            return new NamedSyntax(cursor.span(first), kind, first.text());
        }
        String name = cursor.expect(Kind.WORD, "the name of the " + first.text()).text();
        return new NamedSyntax(cursor.since(first.from()), kind, name);
    }

    private static TypeSyntax.Kind kind(ScriptToken first) {
        return switch (first.text()) {
            case "struct" -> TypeSyntax.Kind.STRUCT;
            case "union" -> TypeSyntax.Kind.UNION;
            case "enum" -> TypeSyntax.Kind.ENUM;
            default -> TypeSyntax.Kind.PLAIN;
        };
    }

    private TypeSyntax suffixes(TypeSyntax element) throws SyntaxException {
        TypeSyntax type = element;
        int from = element.span().from();
        while (true) {
            if (cursor.accept("*")) {
                type = new PointerSyntax(cursor.since(from), type);
            } else if (cursor.accept("[")) {
                boolean open = cursor.isSign("]");
                long count = open ? 0 : cursor.expect(Kind.INTEGER, "a number").value();
                cursor.expect("]");
                type = new ArraySyntax(cursor.since(from), type, count);
            } else {
                return type;
            }
        }
    }

    /** {@code typeof(…)}. */
    TypeSyntax typeOf() throws SyntaxException {
        cursor.take();
        cursor.expect("(");
        TypeSyntax type = typeOrExpression();
        cursor.expect(")");
        return type;
    }

    /** What {@code sizeof} takes. */
    TypeSyntax typeOrExpression() throws SyntaxException {
        if (cursor.isWord("typeof")) {
            return typeOf();
        }
        ScriptToken start = cursor.token();
        TypeSyntax type = attempt(false);
        if (type != null && (cursor.isSign(")") || cursor.isSign(","))) {
            return type;
        }
        cursor.continueAt(start.from());
        Expression expression = expressions.expression();
        return new TypeofSyntax(expression.span(), expression);
    }

    /**
     * The type of a cast, behind its opening parenthesis; null, with nothing taken, when it is
     * something else.
     */
    @Nullable TypeSyntax cast() throws SyntaxException {
        ScriptToken start = cursor.token();
        TypeSyntax type = cursor.isWord("typeof") ? typeOf() : attempt(true);
        if (type != null && cursor.isSign(")")) {
            boolean sure = !isPlainName(type) || isTypeName(((NamedSyntax) type).name());
            if (startsOperand(cursor.peek(), sure)) {
                cursor.take();
                return type;
            }
        }
        cursor.continueAt(start.from());
        return null;
    }

    private static boolean isPlainName(TypeSyntax type) {
        return type instanceof NamedSyntax named && named.kind() == TypeSyntax.Kind.PLAIN;
    }

    static boolean isTypeName(String name) {
        return BUILTIN.contains(name) || name.endsWith("_t");
    }

    /**
     * Whether an operand begins; behind a name that need not be a type's, a sign that also stands
     * between operands is taken as that.
     */
    private static boolean startsOperand(ScriptToken token, boolean sure) {
        return switch (token.kind()) {
            case END -> false;
            case SIGN ->
                    token.isSign("(")
                            || token.isSign("!")
                            || token.isSign("~")
                            || (sure && Set.of("-", "*", "&").contains(token.text()));
            case WORD, INTEGER, STRING, VARIABLE, POSITIONAL, POSITIONAL_COUNT, MAP -> true;
        };
    }

    /** A type if one stands there, without a word about it if none does. */
    private @Nullable TypeSyntax attempt(boolean anyName) throws SyntaxException {
        ScriptToken first = cursor.token();
        if (first.kind() != Kind.WORD) {
            return null;
        }
        boolean tagged = kind(first) != TypeSyntax.Kind.PLAIN;
        if (tagged && cursor.peek().kind() != Kind.WORD) {
            return null;
        }
        TypeSyntax named = named();
        boolean known = tagged || BUILTIN.contains(first.text());
        if (!known && !suffixesFollow()) {
            return anyName
                    ? named
                    : new TypeofSyntax(named.span(), new BareName(named.span(), first.text()));
        }
        return suffixes(named);
    }

    /** Whether what follows can only be {@code *} and {@code [n]} up to a parenthesis or comma. */
    private boolean suffixesFollow() {
        ScriptToken start = cursor.token();
        boolean some = false;
        while (cursor.isSign("*") || cursor.isSign("[")) {
            some = true;
            if (cursor.take().isSign("[")) {
                if (cursor.token().kind() == Kind.INTEGER) {
                    cursor.take();
                }
                if (!cursor.accept("]")) {
                    cursor.continueAt(start.from());
                    return false;
                }
            }
        }
        boolean ends = cursor.isSign(")") || cursor.isSign(",");
        cursor.continueAt(start.from());
        return some && ends;
    }
}
