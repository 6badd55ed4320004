package sonde.symbol.ctype;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.Attribute;
import sonde.binary.dwarf.location.Entry;
import sonde.binary.dwarf.location.Tag;

/**
 * Which classes of C++ are non-trivial for the purposes of calls (Itanium C++ ABI, 1.1): their copy
 * constructor, move constructor or destructor has code, or they can neither be copied nor moved.
 * Functions get and return such objects by address. clang says it (DW_AT_calling_convention); gcc
 * does not, so the declared and the implicit members are worked out as C++20 [class.copy.ctor] and
 * [class.dtor] have them.
 *
 * <p>A constructor {@code A(const A&, int = 0)} also copies, but DWARF does not tell that its
 * second parameter has a default: it is taken for another constructor.
 */
final class NonTrivial {
    /** DW_CC_pass_by_reference. */
    private static final int BY_REFERENCE = 4;

    /** DW_DEFAULTED_in_class; a function that is defaulted outside of its class has code. */
    private static final int IN_CLASS = 1;

    /** DW_TAG_template_*, DW_TAG_GNU_template_*, and an ellipsis. */
    private static final Set<Integer> OTHERS =
            Set.of(0x2f, 0x30, 0x4106, 0x4107, 0x4108, Tag.UNSPECIFIED_PARAMETERS);

    private static final int MOST_DEPTH = 16;

    /** How an object is copied, moved or ended. */
    private enum Way {
        TRIVIAL,
        CODE,
        DELETED
    }

    /**
     * What can be done with objects of a class.
     *
     * @param move as the copy where there is no move constructor
     */
    private record Handling(Way copy, Way move, Way end) {
        static final Handling TRIVIAL = new Handling(Way.TRIVIAL, Way.TRIVIAL, Way.TRIVIAL);
        static final Handling CODE = new Handling(Way.CODE, Way.CODE, Way.CODE);

        boolean isNonTrivial() {
            return copy == Way.CODE
                    || move == Way.CODE
                    || end != Way.TRIVIAL
                    || copy == Way.DELETED && move == Way.DELETED;
        }
    }

    private final TypeLayout layout;

    NonTrivial(TypeLayout layout) {
        this.layout = layout;
    }

    boolean is(Entry type) throws MalformedInputException {
        return handling(type, 0).isNonTrivial();
    }

    private Handling handling(@Nullable Entry stated, int depth) throws MalformedInputException {
        if (stated == null || depth > MOST_DEPTH) {
            return Handling.TRIVIAL;
        }
        Entry type = layout.whole(stated);
        return switch (type.tag()) {
            case Tag.TYPEDEF, Tag.VOLATILE_TYPE, Tag.ARRAY_TYPE, Tag.ATOMIC_TYPE ->
                    handling(type.type(), depth + 1);
            case Tag.CONST_TYPE -> {
                // What cannot be changed cannot be moved from.
                Handling inner = handling(type.type(), depth + 1);
                yield new Handling(inner.copy, inner.copy, inner.end);
            }
            case Tag.STRUCTURE_TYPE, Tag.CLASS_TYPE, Tag.UNION_TYPE -> {
                long said = type.constant(Attribute.CALLING_CONVENTION, 0);
                yield said == 0
                        ? new Members(type, depth).handling()
                        : said == BY_REFERENCE ? Handling.CODE : Handling.TRIVIAL;
            }
            default -> Handling.TRIVIAL;
        };
    }

    /** The special member functions of one class. */
    private final class Members {
        private final Entry type;
        private final String name;
        private final List<Handling> parts = new ArrayList<>();
        private final List<Entry> copies = new ArrayList<>();
        private final List<Entry> moves = new ArrayList<>();
        private final List<Entry> ends = new ArrayList<>();
        private boolean hasTable;
        private boolean isCopyAssigned;
        private boolean isMoveAssigned;

        Members(Entry type, int depth) throws MalformedInputException {
            this.type = type;
            this.name = type.name().replaceFirst("<.*", "");
            for (Entry child : type.children()) {
                boolean base = child.tag() == Tag.INHERITANCE;
                if (child.tag() == Tag.SUBPROGRAM && !child.flag(Attribute.ARTIFICIAL)) {
                    function(child);
                } else if (base || TypeLayout.isMember(child)) {
                    hasTable |= base && child.constant(Attribute.VIRTUALITY, 0) != 0;
                    hasTable |= !base && child.name().startsWith("_vptr");
                    parts.add(NonTrivial.this.handling(child.type(), depth + 1));
                }
            }
        }

        private void function(Entry function) throws MalformedInputException {
            String called = function.name();
            if (called.startsWith("~")) {
                ends.add(function);
            } else if (called.equals(name)) {
                int taken = takes(function);
                if (taken == Tag.REFERENCE_TYPE) {
                    copies.add(function);
                } else if (taken == Tag.RVALUE_REFERENCE_TYPE) {
                    moves.add(function);
                }
            } else if (called.equals("operator=")) {
                int taken = takes(function);
                isMoveAssigned |= taken == Tag.RVALUE_REFERENCE_TYPE;
                isCopyAssigned |= taken != Tag.RVALUE_REFERENCE_TYPE && taken != 0;
            }
        }

        /**
         * The tag of the only parameter of a function when that is an object of this class, or a
         * reference to one; else 0. Templates make no special members.
         */
        private int takes(Entry function) throws MalformedInputException {
            Entry only = null;
            for (Entry child : function.children()) {
                boolean given =
                        child.tag() == Tag.FORMAL_PARAMETER && !child.flag(Attribute.ARTIFICIAL);
                if (OTHERS.contains(child.tag()) || given && only != null) {
                    return 0;
                }
                only = given ? child : only;
            }
            Entry taken = only == null ? null : unqualified(only.type());
            if (taken == null) {
                return 0;
            }
            boolean refers =
                    taken.tag() == Tag.REFERENCE_TYPE || taken.tag() == Tag.RVALUE_REFERENCE_TYPE;
            Entry of = refers ? unqualified(taken.type()) : taken;
            return of != null && layout.whole(of).equals(type) ? taken.tag() : 0;
        }

        private static @Nullable Entry unqualified(@Nullable Entry stated)
                throws MalformedInputException {
            Entry type = stated;
            for (int depth = 0; type != null && depth < MOST_DEPTH; depth++) {
                switch (type.tag()) {
                    case Tag.TYPEDEF, Tag.CONST_TYPE, Tag.VOLATILE_TYPE -> type = type.type();
                    default -> {
                        return type;
                    }
                }
            }
            return type;
        }

        Handling handling() {
            Way end = ends.isEmpty() ? implied(Handling::end, false) : made(ends, Handling::end);
            Way copy;
            if (!copies.isEmpty()) {
                copy = made(copies, Handling::copy);
            } else {
                boolean lost = !moves.isEmpty() || isMoveAssigned;
                copy = lost ? Way.DELETED : implied(Handling::copy, hasTable);
            }
            Way move = copy;
            boolean none = !copies.isEmpty() || isCopyAssigned || isMoveAssigned || !ends.isEmpty();
            if (!moves.isEmpty()) {
                move = made(moves, Handling::move);
            } else if (!none) {
                Way own = implied(Handling::move, hasTable);
                move = own == Way.DELETED ? copy : own;
            }
            return new Handling(copy, move, end);
        }

        /** What was declared: one with code counts before others, a deleted one last. */
        private Way made(List<Entry> functions, Function<Handling, Way> part) {
            Way made = Way.DELETED;
            for (Entry one : functions) {
                if (!one.flag(Attribute.DELETED)) {
                    boolean own = one.constant(Attribute.DEFAULTED, 0) != IN_CLASS;
                    boolean virtual = one.constant(Attribute.VIRTUALITY, 0) != 0;
                    Way way = own || virtual ? Way.CODE : implied(part, hasTable && !isEnd(one));
                    made = made == Way.CODE || way == Way.DELETED ? made : way;
                }
            }
            return made;
        }

        private boolean isEnd(Entry function) {
            return ends.contains(function);
        }

        /** What the compiler makes by itself from that of members and bases. */
        private Way implied(Function<Handling, Way> part, boolean byTable) {
            Way made = byTable ? Way.CODE : Way.TRIVIAL;
            for (Handling one : parts) {
                Way way = part.apply(one);
                if (way == Way.DELETED || type.tag() == Tag.UNION_TYPE && way == Way.CODE) {
                    return Way.DELETED;
                }
                made = way == Way.CODE ? way : made;
            }
            return made;
        }
    }
}
