package sonde.probe.dynamic;

import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.location.Attribute;
import sonde.format.dwarf.location.Entry;
import sonde.format.dwarf.location.Tag;

/**
 * Classes of C++ that functions get and return by their address: those with a destructor, or a
 * constructor that copies or moves, of their own (Itanium C++ ABI, 1.1). clang says it, gcc does
 * not.
 */
final class NonTrivial {
    /** DW_CC_pass_by_reference. */
    private static final int BY_REFERENCE = 4;

    /** DW_DEFAULTED_in_class. */
    private static final int IN_CLASS = 1;

    private static final int MOST_DEPTH = 16;

    private NonTrivial() {}

    static boolean is(@Nullable Entry type) throws MalformedInputException {
        return is(type, 0);
    }

    private static boolean is(@Nullable Entry type, int depth) throws MalformedInputException {
        if (type == null || depth > MOST_DEPTH) {
            return false;
        }
        return switch (type.tag()) {
            case Tag.TYPEDEF, Tag.CONST_TYPE, Tag.VOLATILE_TYPE, Tag.ARRAY_TYPE ->
                    is(type.type(), depth + 1);
            case Tag.STRUCTURE_TYPE, Tag.CLASS_TYPE, Tag.UNION_TYPE -> {
                long said = type.constant(Attribute.CALLING_CONVENTION, 0);
                yield said == BY_REFERENCE || said == 0 && hasCode(type, depth);
            }
            default -> false;
        };
    }

    private static boolean hasCode(Entry type, int depth) throws MalformedInputException {
        String name = type.name().replaceFirst("<.*", "");
        for (Entry child : type.children()) {
            boolean found =
                    switch (child.tag()) {
                        case Tag.SUBPROGRAM -> isOwn(child, name);
                        case Tag.INHERITANCE ->
                                child.constant(Attribute.VIRTUALITY, 0) != 0
                                        || is(child.type(), depth + 1);
                        case Tag.MEMBER ->
                                !child.flag(Attribute.DECLARATION)
                                        && !child.flag(Attribute.EXTERNAL)
                                        && (child.name().startsWith("_vptr")
                                                || is(child.type(), depth + 1));
                        default -> false;
                    };
            if (found) {
                return true;
            }
        }
        return false;
    }

    /** Whether it ends or copies an object, and the compiler did not make it by itself. */
    private static boolean isOwn(Entry function, String name) throws MalformedInputException {
        String called = function.name().replaceFirst("<.*", "");
        boolean made =
                function.flag(Attribute.ARTIFICIAL)
                        || function.constant(Attribute.DEFAULTED, 0) == IN_CLASS;
        return !made && (called.startsWith("~") || called.equals(name) && copies(function));
    }

    private static boolean copies(Entry constructor) throws MalformedInputException {
        int taken = 0;
        boolean reference = false;
        for (Entry child : constructor.children()) {
            if (child.tag() == Tag.FORMAL_PARAMETER && !child.flag(Attribute.ARTIFICIAL)) {
                Entry type = child.type();
                taken++;
                reference =
                        type != null
                                && (type.tag() == Tag.REFERENCE_TYPE
                                        || type.tag() == Tag.RVALUE_REFERENCE_TYPE);
            }
        }
        return taken == 1 && reference;
    }
}
