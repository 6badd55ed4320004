package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.Die;
import sonde.format.dwarf.Dwarf;

/**
 * Which classes of C++ functions get by their address: those with a destructor, or a constructor
 * that copies or moves, that is not trivial (Itanium C++ ABI, 1.1). clang says it, gcc does not.
 */
final class NonTrivial {
    private static final int MOST_DEPTH = 16;

    private NonTrivial() {}

    static boolean is(Dwarf dwarf, Die type) throws MalformedInputException {
        return is(dwarf, type, 0);
    }

    private static boolean is(Dwarf dwarf, Die stated, int depth) throws MalformedInputException {
        Die die = dwarf.signed(stated).orElse(stated);
        if (depth > MOST_DEPTH) {
            return false;
        }
        return switch (die.tag()) {
            case Die.TYPEDEF, Die.CONST_TYPE, Die.VOLATILE_TYPE, Die.ARRAY_TYPE -> {
                Optional<Die> inner = dwarf.typeOf(die);
                yield inner.isPresent() && is(dwarf, inner.get(), depth + 1);
            }
            case Die.STRUCTURE_TYPE, Die.CLASS_TYPE, Die.UNION_TYPE ->
                    die.callingConvention() == Die.NONE
                            ? hasCode(dwarf, die) || partsHave(dwarf, die, depth)
                            : die.callingConvention() == Die.PASS_BY_REFERENCE;
            default -> false;
        };
    }

    private static boolean partsHave(Dwarf dwarf, Die die, int depth)
            throws MalformedInputException {
        for (Die part : dwarf.children(die)) {
            boolean base = part.tag() == Die.INHERITANCE;
            if (base && part.isVirtual()) {
                return true;
            }
            if ((base || part.tag() == Die.MEMBER) && !part.isDeclaration()) {
                Optional<Die> type = dwarf.typeOf(part);
                boolean table = dwarf.name(part).startsWith("_vptr");
                if (table || type.isPresent() && is(dwarf, type.get(), depth + 1)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether it has code of its own for an object's end or copy, or no copy is allowed. */
    private static boolean hasCode(Dwarf dwarf, Die die) throws MalformedInputException {
        String name = dwarf.name(die).replaceFirst("<.*", "");
        boolean some = false;
        boolean allowed = false;
        for (Die function : dwarf.children(die)) {
            if (function.tag() != Die.SUBPROGRAM) {
                continue;
            }
            String called = dwarf.name(function).replaceFirst("<.*", "");
            boolean copies = called.equals(name) && copies(dwarf, function, die);
            boolean own = !function.isDeleted() && !function.isDefaultedInClass();
            if ((copies || called.startsWith("~")) && own && !function.isArtificial()) {
                return true;
            }
            some |= copies;
            allowed |= copies && !function.isDeleted();
        }
        return some && !allowed;
    }

    /** Whether a constructor takes one object of its class. */
    private static boolean copies(Dwarf dwarf, Die constructor, Die of)
            throws MalformedInputException {
        List<Die> taken = new ArrayList<>();
        for (Die child : dwarf.children(constructor)) {
            if (child.tag() == Die.FORMAL_PARAMETER && !child.isArtificial()) {
                taken.add(child);
            }
        }
        Optional<Die> type = taken.size() == 1 ? dwarf.typeOf(taken.getFirst()) : Optional.empty();
        if (type.isEmpty()
                || type.get().tag() != Die.REFERENCE_TYPE
                        && type.get().tag() != Die.RVALUE_REFERENCE_TYPE) {
            return false;
        }
        Optional<Die> to = dwarf.typeOf(type.get());
        for (int depth = 0; to.isPresent() && depth < MOST_DEPTH; depth++) {
            if (to.get().equals(of)) {
                return true;
            }
            boolean wraps = to.get().tag() == Die.CONST_TYPE || to.get().tag() == Die.TYPEDEF;
            to = wraps ? dwarf.typeOf(to.get()) : Optional.empty();
        }
        return false;
    }
}
