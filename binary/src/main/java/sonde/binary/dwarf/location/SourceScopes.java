package sonde.binary.dwarf.location;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;

/** Finds what an address can see. Not safe for several threads. */
public final class SourceScopes {
    private static final int MOST_DEPTH = 64;

    private final DebugEntries entries;
    private final FrameRules rules;
    private final Map<EntryUnit, List<AddressRange>> ranges = new HashMap<>();

    /** The scopes of a file whose frames are known by rules. */
    public SourceScopes(DebugEntries entries, FrameRules rules) {
        this.entries = entries;
        this.rules = rules;
    }

    /**
     * The functions and blocks around an address.
     *
     * @param address as stated in the ELF
     * @return empty when no unit, or no function of it, has the address
     */
    public Optional<SourceScope> at(long address) throws MalformedInputException {
        for (EntryUnit unit : entries.units()) {
            if (!unit.isType() && AddressRange.anyContains(ranges(unit), address)) {
                List<DebugEntry> path = new ArrayList<>();
                descend(unit.root(), address, path, 0);
                if (path.isEmpty()) {
                    DebugEntry inner = nested(unit.root(), address, 0);
                    if (inner != null) {
                        path.add(inner);
                        descend(inner, address, path, 1);
                    }
                }
                if (!path.isEmpty()) {
                    return Optional.of(new SourceScope(unit, address, path, rules));
                }
            }
        }
        return Optional.empty();
    }

    /**
     * What a copy of a function sees where it begins, whichever other copies begin there too.
     *
     * @param copy that {@link #at} may pass over: several inlined calls may share an address, and
     *     one without code of its own has none
     * @return empty when the copy is not below a function that has the address
     */
    public Optional<SourceScope> of(DebugEntry copy, long address) throws MalformedInputException {
        EntryUnit unit = copy.unit();
        List<DebugEntry> path = new ArrayList<>();
        return pathTo(unit.root(), copy, address, path, 0)
                ? Optional.of(new SourceScope(unit, address, path, rules))
                : Optional.empty();
    }

    private static boolean pathTo(
            DebugEntry in, DebugEntry copy, long address, List<DebugEntry> path, int depth)
            throws MalformedInputException {
        for (DebugEntry child : in.children()) {
            int before = path.size();
            if (child.equals(copy)) {
                path.add(child);
                return true;
            }
            if (depth < MOST_DEPTH && enters(child, address)) {
                if (!DwarfTag.isNameScope(child.tag())) {
                    path.add(child);
                }
                if (pathTo(child, copy, address, path, depth + 1)) {
                    return true;
                }
                while (path.size() > before) {
                    path.removeLast();
                }
            }
        }
        return false;
    }

    /** The addresses of a unit; where it does not say them, those of its functions. */
    public List<AddressRange> ranges(EntryUnit unit) {
        return ranges.computeIfAbsent(unit, SourceScopes::read);
    }

    private static List<AddressRange> read(EntryUnit unit) {
        try {
            List<AddressRange> stated = unit.base().ranges();
            return stated.isEmpty() ? ofFunctions(unit) : stated;
        } catch (MalformedInputException e) {
            return List.of();
        }
    }

    private static List<AddressRange> ofFunctions(EntryUnit unit) throws MalformedInputException {
        List<AddressRange> found = new ArrayList<>();
        for (DebugEntry child : unit.root().children()) {
            if (child.tag() == DwarfTag.SUBPROGRAM) {
                found.addAll(child.ranges());
            }
        }
        return found;
    }

    private static void descend(DebugEntry in, long address, List<DebugEntry> path, int depth)
            throws MalformedInputException {
        for (DebugEntry child : in.children()) {
            if (depth < MOST_DEPTH && enters(child, address)) {
                boolean scope = DwarfTag.isNameScope(child.tag());
                int before = path.size();
                if (!scope) {
                    path.add(child);
                }
                descend(child, address, path, depth + 1);
                if (path.size() > before) {
                    return;
                }
            }
        }
    }

    /**
     * A function that is declared inside another one and has code apart from it: a method of a
     * local class, or of a lambda; null for none.
     */
    private static @Nullable DebugEntry nested(DebugEntry in, long address, int depth)
            throws MalformedInputException {
        for (DebugEntry child : depth < MOST_DEPTH ? in.children() : List.<DebugEntry>of()) {
            boolean function = child.tag() == DwarfTag.SUBPROGRAM;
            if (function && AddressRange.anyContains(child.ranges(), address)) {
                return child;
            }
            boolean holds =
                    function
                            || child.tag() == DwarfTag.LEXICAL_BLOCK
                            || DwarfTag.isNameScope(child.tag());
            DebugEntry found =
                    holds && child.hasChildren() ? nested(child, address, depth + 1) : null;
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static boolean enters(@Nullable DebugEntry child, long address)
            throws MalformedInputException {
        if (child == null) {
            return false;
        }
        return switch (child.tag()) {
            case DwarfTag.SUBPROGRAM,
                    DwarfTag.INLINED_SUBROUTINE,
                    DwarfTag.LEXICAL_BLOCK,
                    DwarfTag.TRY_BLOCK,
                    DwarfTag.CATCH_BLOCK ->
                    AddressRange.anyContains(child.ranges(), address);
            default -> DwarfTag.isNameScope(child.tag()) && child.hasChildren();
        };
    }
}
