package sonde.recording.ftrace;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.recording.ftrace.PrintExpression.ConstantExpression;
import sonde.recording.ftrace.PrintLexer.Kind;
import sonde.recording.ftrace.PrintLexer.PrintToken;

/** The types in a {@code print fmt}: of casts, of {@code sizeof} and of declarations. */
final class PrintTypes {
    private static final Set<String> TYPE_WORDS =
            Set.of(
                    """
                    unsigned signed const struct union enum void char short int long \
                    bool _Bool volatile __force typeof __typeof__\
                    """
                            .split(" "));

    private static final Set<String> STORAGE_WORDS =
            Set.of("static", "register", "__auto_type", "__maybe_unused");

    private final PrintParser in;

    PrintTypes(PrintParser in) {
        this.in = in;
    }

    /** After an opening bracket: whether a type name stands in it. */
    boolean isCast() {
        PrintToken first = in.peek();
        if (first.kind() != Kind.NAME || first.is("REC")) {
            return false;
        }
        if (TYPE_WORDS.contains(first.text())) {
            return true;
        }
        int i = 1;
        while (in.peek(i).is("*")) {
            i++;
        }
        if (!in.peek(i).is(")")) {
            return false;
        }
        PrintToken next = in.peek(i + 1);
        boolean compound = next.is("{");
        return next.is("(") || compound || next.kind() == Kind.NAME || next.kind() == Kind.NUMBER;
    }

    /** Reads up to the closing bracket, which stays. */
    String typeName() throws UnsupportedPrintException {
        StringBuilder name = new StringBuilder();
        int open = 0;
        while (open > 0 || !in.peek().is(")")) {
            PrintToken token = in.take();
            if (token.kind() == Kind.END) {
                throw PrintParser.unsupported("a type that does not end");
            }
            open += token.is("(") ? 1 : token.is(")") ? -1 : 0;
            name.append(name.isEmpty() ? "" : " ").append(token.text());
        }
        return name.toString();
    }

    /** Whether a declaration stands here, not an expression. */
    boolean isDeclaration() {
        PrintToken first = in.peek();
        if (first.kind() != Kind.NAME || first.is("REC")) {
            return false;
        }
        if (TYPE_WORDS.contains(first.text()) || STORAGE_WORDS.contains(first.text())) {
            return true;
        }
        int i = 1;
        while (in.peek(i).is("*")) {
            i++;
        }
        // "u32 x", "foo *x =": a product has no use as a statement
        boolean named = in.peek(i).kind() == Kind.NAME;
        return named && (i == 1 || in.peek(i + 1).is("=") || in.peek(i + 1).is(";"));
    }

    /** Reads the type words of a declaration: {@code "unsigned int"}, {@code "union"}. */
    String declaredType() throws UnsupportedPrintException {
        StringBuilder name = new StringBuilder();
        while (in.peek().kind() == Kind.NAME) {
            String word = in.peek().text();
            boolean storage = STORAGE_WORDS.contains(word) && !word.equals("__auto_type");
            boolean known = TYPE_WORDS.contains(word);
            if (!storage && !known && !name.isEmpty()) {
                break;
            }
            in.take();
            if (storage || word.equals("const") || word.equals("volatile")) {
                continue;
            }
            name.append(name.isEmpty() ? "" : " ").append(word);
            if (word.equals("union") || word.equals("struct")) {
                break;
            }
            if (word.equals("enum")) {
                name.append(' ').append(in.take().text());
            } else if (in.peek().is("(")) {
                in.skipBracket();
            }
        }
        return name.toString();
    }

    /** The integer type of that name; null when it is none that we know. */
    @Nullable CIntegerType integerType(String name) {
        int bytes = CTypes.sizeBytes(name, in.context().longBytes(), 0);
        return bytes == 0 || name.isEmpty()
                ? null
                : new CIntegerType(bytes, CTypes.isUnsigned(name));
    }

    /** The members behind {@code union} or {@code struct}; null when only its tag stands there. */
    @Nullable PackedStruct layout(boolean union) throws UnsupportedPrintException {
        if (in.peek().kind() == Kind.NAME) {
            in.take();
        }
        if (!in.takes("{")) {
            return null;
        }
        in.enter();
        PackedStruct layout = new PackedStruct(union);
        while (!in.takes("}")) {
            String base = declaredType();
            boolean inner = base.equals("union") || base.equals("struct");
            PackedStruct members = inner ? layout(base.equals("union")) : null;
            CIntegerType type = inner ? null : integerType(base);
            if (members != null && in.peek().is(";")) {
                layout.add(null, members);
            }
            while (!in.takes(";")) {
                String name = in.peek().is(":") ? "" : in.take().text();
                int bits = -1;
                if (in.takes(":") && in.number() instanceof ConstantExpression width) {
                    bits = (int) Math.max(0, Math.min(64, width.value()));
                }
                if (type != null) {
                    layout.add(name, type, bits);
                } else if (members != null) {
                    layout.add(name, members);
                } else {
                    throw PrintParser.unsupported("a member of type " + base);
                }
                in.takes(",");
            }
        }
        in.leave();
        return layout;
    }
}
