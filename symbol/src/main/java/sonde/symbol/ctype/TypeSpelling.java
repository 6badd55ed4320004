package sonde.symbol.ctype;

import java.util.ArrayList;
import java.util.List;
import sonde.symbol.ctype.SourceType.Array;
import sonde.symbol.ctype.SourceType.Enumeration;
import sonde.symbol.ctype.SourceType.MemberPointer;
import sonde.symbol.ctype.SourceType.NumberType;
import sonde.symbol.ctype.SourceType.Opaque;
import sonde.symbol.ctype.SourceType.Pointer;
import sonde.symbol.ctype.SourceType.Prototype;
import sonde.symbol.ctype.SourceType.Qualified;
import sonde.symbol.ctype.SourceType.SourceTypedef;
import sonde.symbol.ctype.SourceType.Structure;

/** Spells types as C declares them: from what is declared outwards. */
final class TypeSpelling {
    private static final int MOST_STEPS = 64;

    private TypeSpelling() {}

    static String declare(SourceType type, String inner, int steps) {
        if (steps > MOST_STEPS) {
            return spaced("void", inner);
        }
        return switch (type) {
            case Pointer p -> pointer(p.target().get(), p.sign().text(), inner, steps);
            case MemberPointer p -> pointer(p.target().get(), p.of() + "::*", inner, steps);
            case Qualified q -> qualified(q, inner, steps);
            case Array a -> {
                String count = "[" + (a.count() == Array.OPEN ? "" : a.count()) + "]";
                yield declare(a.element(), inner + count, steps + 1);
            }
            case Prototype p ->
                    declare(p.result().get(), inner + "(" + parameters(p, steps) + ")", steps + 1);
            case Structure s -> spaced(s.keyword().text() + " " + shown(s.name()), inner);
            case Enumeration e -> spaced("enum " + shown(e.name()), inner);
            case SourceTypedef t -> spaced(t.name(), inner);
            case NumberType n -> spaced(n.name(), inner);
            case Opaque o -> spaced(o.name(), inner);
        };
    }

    private static String shown(String name) {
        return name.isEmpty() ? "{...}" : name;
    }

    private static String spaced(String first, String second) {
        boolean close = first.isEmpty() || second.isEmpty() || second.startsWith("[");
        return close ? first + second : first + " " + second;
    }

    private static String parameters(Prototype prototype, int steps) {
        List<String> all = new ArrayList<>();
        for (SourceType one : prototype.parameters().get()) {
            all.add(declare(one, "", steps + 1));
        }
        if (prototype.isVariadic()) {
            all.add("...");
        }
        return all.isEmpty() ? "void" : String.join(", ", all);
    }

    private static String pointer(SourceType target, String sign, String inner, int steps) {
        SourceType bare = target instanceof Qualified q ? q.target() : target;
        boolean binds = bare instanceof Array || bare instanceof Prototype;
        return declare(target, binds ? "(" + sign + inner + ")" : sign + inner, steps + 1);
    }

    /** The qualifier of a pointer stands behind the star, others before the type. */
    private static String qualified(Qualified q, String inner, int steps) {
        String word = q.qualifier().text();
        SourceType bare = q.target();
        while (bare instanceof Qualified more) {
            bare = more.target();
        }
        if (bare instanceof Array array && isQualified(array.element(), q)) {
            // What qualifies an array qualifies its elements (C11 6.7.3), and gcc states both.
            return declare(q.target(), inner, steps + 1);
        }
        boolean behind = bare instanceof Pointer || bare instanceof MemberPointer;
        return behind
                ? declare(q.target(), spaced(word, inner), steps + 1)
                : word + " " + declare(q.target(), inner, steps + 1);
    }

    private static boolean isQualified(SourceType type, Qualified by) {
        return switch (type) {
            case Qualified one ->
                    one.qualifier() == by.qualifier() || isQualified(one.target(), by);
            case Array array -> isQualified(array.element(), by);
            default -> false;
        };
    }
}
