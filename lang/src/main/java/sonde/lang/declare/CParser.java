package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.declare.CDeclaredType.AlignedType;
import sonde.lang.declare.CDeclaredType.CompleteType;
import sonde.lang.declare.CDeclaredType.DefinedRecord;
import sonde.lang.declare.CDeclaredType.TaggedType;
import sonde.lang.declare.CExpression.CValue;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;
import sonde.lang.type.ValueType;
import sonde.symbol.ctype.BasicNumbers;

/**
 * Declarations of C (C17, 6.7) with the extensions of gcc that headers use. What is not a type and
 * no constant of an enumeration is passed over; semicolons may be missing where definitions end.
 */
final class CParser implements CExpression.CExpressionNames {
    private static final int MOST_DEPTH = 48;
    private static final Set<String> IGNORED =
            Set.of(
                    """
                    const volatile restrict __const __const__ __volatile \
                    __volatile__ __restrict __restrict__ _Atomic extern static \
                    inline __inline __inline__ register auto _Noreturn _Thread_local \
                    __thread __extension__\
                    """
                            .split(" "));

    private final CScope scope;
    private final CErrors errors;
    private final CCursor cursor;
    private final CRecords records;
    private int depth;

    CParser(CScope scope, CErrors errors, CCursor cursor) {
        this.scope = scope;
        this.errors = errors;
        this.cursor = cursor;
        this.records = new CRecords(this, scope, cursor);
    }

    /**
     * What is declared.
     *
     * @param type with all that stands around the name
     */
    record CDeclared(CToken place, String name, CDeclaredType type, CAttributes attributes) {}

    /** A type by itself: {@code "const char *"}; null when that is none. */
    static @Nullable ValueType type(String text, TypeSource kernel) {
        CScope scope = new CScope(kernel);
        SourceSpan nowhere = new SourceSpan(new SourceText("", text), 0, text.length());
        CToken end = new CToken(CToken.Kind.END, "", true, false, nowhere, true);
        CCursor cursor = new CCursor(CLexer.header(text, nowhere), end);
        CParser parser =
                new CParser(
                        scope, new CErrors(new CompilerDiagnostics(), nowhere.source()), cursor);
        try {
            CDeclaredType base = parser.specifiers(new CAttributes());
            CDeclaredType type = parser.declarator(base).type();
            return cursor.isEnd() ? scope.type(type) : null;
        } catch (CSyntaxException e) {
            return null;
        }
    }

    /** Everything up to the end. */
    void all() {
        while (!cursor.isEnd() && !errors.isFull()) {
            CCursor.Mark before = cursor.mark();
            try {
                depth = 0;
                declaration();
            } catch (CSyntaxException e) {
                errors.error(e);
                cursor.backTo(before);
                cursor.skipDeclaration();
            }
        }
    }

    private void declaration() throws CSyntaxException {
        if (cursor.accept(";")) {
            return;
        }
        CToken first = cursor.token();
        if (first.is("_Static_assert") || first.is("__asm__") || first.is("asm")) {
            cursor.skipDeclaration();
            return;
        }
        boolean typedef = false;
        CAttributes attributes = new CAttributes();
        CDeclaredType base = null;
        while (base == null) {
            if (cursor.accept("typedef")) {
                typedef = true;
            } else if (!skipIgnored(attributes)) {
                base = specifiers(attributes);
            }
        }
        while (cursor.accept("typedef")) {
            typedef = true;
        }
        while (!cursor.is(";") && !cursor.isEnd()) {
            CDeclared declared = declarator(base);
            attributes(declared.attributes());
            if (typedef && !declared.name().isEmpty()) {
                scope.defineTypedef(declared.name(), aligned(declared, attributes));
            }
            if (cursor.is("{") || cursor.is("=")) {
                // A function's body, a variable's value.
                cursor.skipDeclaration();
                return;
            }
            if (!cursor.accept(",")) {
                break;
            }
        }
        if (!cursor.accept(";") && !cursor.isEnd()) {
            throw cursor.fail("expected ';' but found " + cursor.token().shown());
        }
    }

    private CDeclaredType aligned(CDeclared declared, CAttributes before) throws CSyntaxException {
        CDeclaredType type = declared.attributes().moded(before.moded(declared.type()));
        int align = Math.max(declared.attributes().aligned(), before.aligned());
        return align > 0 ? new AlignedType(checked(type), align) : type;
    }

    /** Passes a qualifier, storage class or attribute. */
    boolean skipIgnored(CAttributes attributes) throws CSyntaxException {
        CToken token = cursor.token();
        if (token.kind() != CToken.Kind.WORD) {
            return false;
        }
        if (IGNORED.contains(token.text())) {
            cursor.take();
            return true;
        }
        return attributes.accept(cursor, this);
    }

    void attributes(CAttributes attributes) throws CSyntaxException {
        while (skipIgnored(attributes) || cursor.is("__asm__") || cursor.is("asm")) {
            if (cursor.is("__asm__") || cursor.is("asm")) {
                cursor.take();
                cursor.skipGroup();
            }
        }
    }

    /** The type that declarations begin with. */
    CDeclaredType specifiers(CAttributes attributes) throws CSyntaxException {
        List<String> words = new ArrayList<>();
        CToken first = cursor.token();
        CDeclaredType type = null;
        while (true) {
            CToken token = cursor.token();
            if (skipIgnored(attributes)) {
                continue;
            }
            boolean some = type != null || !words.isEmpty();
            if (token.kind() != CToken.Kind.WORD || token.is("typedef")) {
                break;
            } else if (BasicNumbers.isWord(token.text()) && type == null) {
                words.add(cursor.take().text());
            } else if (some) {
                break;
            } else {
                type = named(token);
            }
        }
        if (type == null && !words.isEmpty()) {
            type = LinuxBasicTypes.of(words);
        }
        if (type == null) {
            throw first.kind() == CToken.Kind.WORD
                    ? new CSyntaxException(first, "unknown type name '" + first.text() + "'")
                    : new CSyntaxException(first, "expected a type but found " + first.shown());
        }
        return type;
    }

    private CDeclaredType named(CToken token) throws CSyntaxException {
        if (token.is("struct") || token.is("union")) {
            return records.record();
        }
        if (token.is("enum")) {
            return records.enumeration();
        }
        if (token.is("typeof") || token.is("__typeof__") || token.is("__typeof")) {
            cursor.take();
            cursor.expect("(");
            CDeclaredType type = typeName(cursor);
            if (type == null) {
                throw cursor.fail("the type of an expression is not known here");
            }
            cursor.expect(")");
            return type;
        }
        CDeclaredType type = scope.typedef(token.text());
        if (type == null) {
            throw new CSyntaxException(token, "unknown type name '" + token.text() + "'");
        }
        cursor.take();
        return type;
    }

    void enter() throws CSyntaxException {
        if (++depth > MOST_DEPTH) {
            throw cursor.fail("this is nested too deeply");
        }
    }

    void leave() {
        depth--;
    }

    /** A type that other types may be made of without bound. */
    CDeclaredType checked(CDeclaredType type) throws CSyntaxException {
        int steps = 0;
        CDeclaredType at = type;
        while (at != null && steps++ <= MOST_DEPTH) {
            at =
                    switch (at) {
                        case CDeclaredType.Pointer pointer -> pointer.to();
                        case CDeclaredType.Array array -> array.element();
                        case AlignedType aligned -> aligned.type();
                        case CompleteType _,
                                TaggedType _,
                                DefinedRecord _,
                                CDeclaredType.Function _ ->
                                null;
                    };
        }
        if (at != null) {
            throw cursor.fail("this type is made of too many others");
        }
        return type;
    }

    /** A name with what stands around it; the name may be missing. */
    CDeclared declarator(CDeclaredType base) throws CSyntaxException {
        enter();
        CDeclaredType type = base;
        CAttributes attributes = new CAttributes();
        while (skipIgnored(attributes) || cursor.is("*") || cursor.is("^")) {
            if (cursor.accept("*") || cursor.accept("^")) {
                type = checked(new CDeclaredType.Pointer(type));
            }
        }
        CDeclared declared = direct(type, attributes);
        leave();
        return declared;
    }

    private CDeclared direct(CDeclaredType base, CAttributes attributes) throws CSyntaxException {
        CToken token = cursor.token();
        if (token.is("(") && isNested()) {
            cursor.take();
            // What stands in the parentheses is made of what follows them: read that first.
            CCursor.Mark inside = cursor.mark();
            skipNested();
            CDeclaredType type = suffixes(base);
            CCursor.Mark behind = cursor.mark();
            cursor.backTo(inside);
            CDeclared declared = declarator(type);
            cursor.expect(")");
            cursor.backTo(behind);
            declared.attributes().add(attributes);
            return declared;
        }
        String name = "";
        if (token.kind() == CToken.Kind.WORD) {
            name = cursor.take().text();
        }
        return new CDeclared(token, name, suffixes(base), attributes);
    }

    /** Behind a declarator in parentheses, the first of which was taken. */
    private void skipNested() {
        int open = 1;
        while (open > 0 && !cursor.isEnd()) {
            CToken token = cursor.take();
            open += token.is("(") ? 1 : token.is(")") ? -1 : 0;
        }
    }

    /** Whether a declarator stands in the parentheses here, not parameters. */
    private boolean isNested() {
        CToken next = cursor.peek(1);
        boolean name =
                next.kind() == CToken.Kind.WORD
                        && !BasicNumbers.isWord(next.text())
                        && !IGNORED.contains(next.text())
                        && !next.is("struct")
                        && !next.is("union")
                        && !next.is("enum")
                        && scope.ownTypedef(next.text()) == null
                        && LinuxBasicTypes.fixed(next.text()) == null;
        return next.is("*") || next.is("^") || next.is("(") || next.is("[") || name;
    }

    private CDeclaredType suffixes(CDeclaredType base) throws CSyntaxException {
        if (cursor.is("(")) {
            cursor.skipGroup();
            suffixes(base);
            return new CDeclaredType.Function();
        }
        if (!cursor.is("[")) {
            return base;
        }
        enter();
        CToken place = cursor.take();
        while (cursor.accept("static") || skipIgnored(new CAttributes())) {
            // Qualifiers of parameters.
        }
        long count = cursor.is("]") ? 0 : CExpression.read(cursor, this).bits();
        cursor.expect("]");
        CDeclaredType element = suffixes(base);
        leave();
        if (count < 0 || count > CScope.MOST_BYTES) {
            throw new CSyntaxException(place, "no array has " + count + " elements");
        }
        CDeclaredType type = checked(new CDeclaredType.Array(element, (int) count));
        if (scope.sizeBytes(element) >= 0 && scope.sizeBytes(type) < 0) {
            throw new CSyntaxException(place, "this array is too large");
        }
        return type;
    }

    @Override
    public @Nullable CValue constant(String name) {
        Long value = scope.constant(name);
        return value == null ? null : new CValue(value, value == value.intValue() ? 4 : 8, false);
    }

    @Override
    public @Nullable CDeclaredType typeName(CCursor at) throws CSyntaxException {
        CToken token = at.token();
        if (at != cursor || token.kind() != CToken.Kind.WORD) {
            return null;
        }
        boolean type =
                BasicNumbers.isWord(token.text())
                        || IGNORED.contains(token.text())
                        || token.is("struct")
                        || token.is("union")
                        || token.is("enum")
                        || token.text().startsWith("__typeof")
                        || scope.enumerator(token.text()) == null
                                && scope.typedef(token.text()) != null;
        return type ? declarator(specifiers(new CAttributes())).type() : null;
    }

    @Override
    public CValue size(CToken place, CDeclaredType type, boolean align) throws CSyntaxException {
        long size = scope.sizeBytes(type);
        if (size < 0) {
            throw new CSyntaxException(place, "the size of this type is not known");
        }
        boolean empty = type instanceof CompleteType plain && plain.type().sizeBytes() == 0;
        return new CValue(align ? scope.align(type) : empty ? 1 : size, 8, true);
    }

    @Override
    public boolean unknownIsZero() {
        return false;
    }
}
