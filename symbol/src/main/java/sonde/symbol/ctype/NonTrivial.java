package sonde.symbol.ctype;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.DwarfTag;

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
            Set.of(0x2f, 0x30, 0x4106, 0x4107, 0x4108, DwarfTag.UNSPECIFIED_PARAMETERS);

    private static final int MOST_DEPTH = 16;

    /** How an object is copied, moved or ended. */
    private enum Triviality {
        TRIVIAL,
        CODE,
        DELETED
    }

    /**
     * What can be done with objects of a class.
     *
     * @param move as the copy where there is no move constructor
     */
    private record Handling(Triviality copy, Triviality move, Triviality end) {
        static final Handling TRIVIAL =
                new Handling(Triviality.TRIVIAL, Triviality.TRIVIAL, Triviality.TRIVIAL);
        static final Handling CODE =
                new Handling(Triviality.CODE, Triviality.CODE, Triviality.CODE);

        boolean isNonTrivial() {
            return copy == Triviality.CODE
                    || move == Triviality.CODE
                    || end != Triviality.TRIVIAL
                    || copy == Triviality.DELETED && move == Triviality.DELETED;
        }
    }

    private final TypeLayout layout;

    NonTrivial(TypeLayout layout) {
        this.layout = layout;
    }

    boolean is(DebugEntry type) throws MalformedInputException {
        return handling(type, 0).isNonTrivial();
    }

    private Handling handling(@Nullable DebugEntry stated, int depth)
            throws MalformedInputException {
        if (stated == null || depth > MOST_DEPTH) {
            return Handling.TRIVIAL;
        }
        DebugEntry type = layout.whole(stated);
        return switch (type.tag()) {
            case DwarfTag.TYPEDEF,
                    DwarfTag.VOLATILE_TYPE,
                    DwarfTag.ARRAY_TYPE,
                    DwarfTag.ATOMIC_TYPE ->
                    handling(type.type(), depth + 1);
            case DwarfTag.CONST_TYPE -> {
                // What cannot be changed cannot be moved from.
                Handling inner = handling(type.type(), depth + 1);
                yield new Handling(inner.copy, inner.copy, inner.end);
            }
            case DwarfTag.STRUCTURE_TYPE, DwarfTag.CLASS_TYPE, DwarfTag.UNION_TYPE -> {
                long said = type.constant(DwarfAttribute.CALLING_CONVENTION, 0);
                yield said == 0
                        ? new SpecialMembers(type, depth).handling()
                        : said == BY_REFERENCE ? Handling.CODE : Handling.TRIVIAL;
            }
            default -> Handling.TRIVIAL;
        };
    }

    /** The special member functions of one class. */
    private final class SpecialMembers {
        private final DebugEntry type;
        private final String name;
        private final List<Handling> parts = new ArrayList<>();
        private final List<DebugEntry> copies = new ArrayList<>();
        private final List<DebugEntry> moves = new ArrayList<>();
        private final List<DebugEntry> ends = new ArrayList<>();
        private boolean hasTable;
        private boolean isCopyAssigned;
        private boolean isMoveAssigned;

        SpecialMembers(DebugEntry type, int depth) throws MalformedInputException {
            this.type = type;
            this.name = type.name().replaceFirst("<.*", "");
            for (DebugEntry child : type.children()) {
                boolean base = child.tag() == DwarfTag.INHERITANCE;
                if (child.tag() == DwarfTag.SUBPROGRAM && !child.flag(DwarfAttribute.ARTIFICIAL)) {
                    function(child);
                } else if (base || TypeLayout.isMember(child)) {
                    hasTable |= base && child.constant(DwarfAttribute.VIRTUALITY, 0) != 0;
                    hasTable |= !base && child.name().startsWith("_vptr");
                    parts.add(NonTrivial.this.handling(child.type(), depth + 1));
                }
            }
        }

        private void function(DebugEntry function) throws MalformedInputException {
            String called = function.name();
            if (called.startsWith("~")) {
                ends.add(function);
            } else if (called.equals(name)) {
                int taken = takes(function);
                if (taken == DwarfTag.REFERENCE_TYPE) {
                    copies.add(function);
                } else if (taken == DwarfTag.RVALUE_REFERENCE_TYPE) {
                    moves.add(function);
                }
            } else if (called.equals("operator=")) {
                int taken = takes(function);
                isMoveAssigned |= taken == DwarfTag.RVALUE_REFERENCE_TYPE;
                isCopyAssigned |= taken != DwarfTag.RVALUE_REFERENCE_TYPE && taken != 0;
            }
        }

        /**
         * The tag of the only parameter of a function when that is an object of this class, or a
         * reference to one; else 0. Templates make no special members.
         */
        private int takes(DebugEntry function) throws MalformedInputException {
            DebugEntry only = null;
            for (DebugEntry child : function.children()) {
                boolean given =
                        child.tag() == DwarfTag.FORMAL_PARAMETER
                                && !child.flag(DwarfAttribute.ARTIFICIAL);
                if (OTHERS.contains(child.tag()) || given && only != null) {
                    return 0;
                }
                only = given ? child : only;
            }
            DebugEntry taken = only == null ? null : unqualified(only.type());
            if (taken == null) {
                return 0;
            }
            boolean refers =
                    taken.tag() == DwarfTag.REFERENCE_TYPE
                            || taken.tag() == DwarfTag.RVALUE_REFERENCE_TYPE;
            DebugEntry of = refers ? unqualified(taken.type()) : taken;
            return of != null && layout.whole(of).equals(type) ? taken.tag() : 0;
        }

        private static @Nullable DebugEntry unqualified(@Nullable DebugEntry stated)
                throws MalformedInputException {
            DebugEntry type = stated;
            for (int depth = 0; type != null && depth < MOST_DEPTH; depth++) {
                switch (type.tag()) {
                    case DwarfTag.TYPEDEF, DwarfTag.CONST_TYPE, DwarfTag.VOLATILE_TYPE ->
                            type = type.type();
                    default -> {
                        return type;
                    }
                }
            }
            return type;
        }

        Handling handling() {
            Triviality end =
                    ends.isEmpty() ? implied(Handling::end, false) : made(ends, Handling::end);
            Triviality copy;
            if (!copies.isEmpty()) {
                copy = made(copies, Handling::copy);
            } else {
                boolean lost = !moves.isEmpty() || isMoveAssigned;
                copy = lost ? Triviality.DELETED : implied(Handling::copy, hasTable);
            }
            Triviality move = copy;
            boolean none = !copies.isEmpty() || isCopyAssigned || isMoveAssigned || !ends.isEmpty();
            if (!moves.isEmpty()) {
                move = made(moves, Handling::move);
            } else if (!none) {
                Triviality own = implied(Handling::move, hasTable);
                move = own == Triviality.DELETED ? copy : own;
            }
            return new Handling(copy, move, end);
        }

        /** What was declared: one with code counts before others, a deleted one last. */
        private Triviality made(List<DebugEntry> functions, Function<Handling, Triviality> part) {
            Triviality made = Triviality.DELETED;
            for (DebugEntry one : functions) {
                if (!one.flag(DwarfAttribute.DELETED)) {
                    boolean own = one.constant(DwarfAttribute.DEFAULTED, 0) != IN_CLASS;
                    boolean virtual = one.constant(DwarfAttribute.VIRTUALITY, 0) != 0;
                    Triviality way =
                            own || virtual
                                    ? Triviality.CODE
                                    : implied(part, hasTable && !isEnd(one));
                    made = made == Triviality.CODE || way == Triviality.DELETED ? made : way;
                }
            }
            return made;
        }

        private boolean isEnd(DebugEntry function) {
            return ends.contains(function);
        }

        /** What the compiler makes by itself from that of members and bases. */
        private Triviality implied(Function<Handling, Triviality> part, boolean byTable) {
            Triviality made = byTable ? Triviality.CODE : Triviality.TRIVIAL;
            for (Handling one : parts) {
                Triviality way = part.apply(one);
                if (way == Triviality.DELETED
                        || type.tag() == DwarfTag.UNION_TYPE && way == Triviality.CODE) {
                    return Triviality.DELETED;
                }
                made = way == Triviality.CODE ? way : made;
            }
            return made;
        }
    }
}
