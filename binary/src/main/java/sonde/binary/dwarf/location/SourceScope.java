package sonde.binary.dwarf.location;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.LocationLists.LocationEntry;
import sonde.binary.dwarf.location.ObjectLocation.AbsentLocation;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitBytes;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitValue;
import sonde.binary.dwarf.location.ObjectLocation.UnreadableLocation;
import sonde.binary.dwarf.location.SymbolicExpression.ExpressionContext;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;

/** What a line of source can see at an address: its function, blocks and their variables. */
public final class SourceScope {
    private final EntryUnit unit;
    private final long address;
    private final List<DebugEntry> path;
    private final FrameRules rules;

    /**
     * At an address.
     *
     * @param path from the outermost function to the innermost block
     */
    SourceScope(EntryUnit unit, long address, List<DebugEntry> path, FrameRules rules) {
        this.unit = unit;
        this.address = address;
        this.path = path;
        this.rules = rules;
    }

    /** The unit of the code. */
    public EntryUnit unit() {
        return unit;
    }

    /** The functions: the one that has code of its own, then what was inlined, innermost last. */
    public List<DebugEntry> functions() {
        return path.stream().filter(SourceScope::isFunction).toList();
    }

    /** The innermost function. */
    public DebugEntry function() {
        return functions().getLast();
    }

    private static boolean isFunction(DebugEntry entry) {
        return entry.tag() == DwarfTag.SUBPROGRAM || entry.tag() == DwarfTag.INLINED_SUBROUTINE;
    }

    /** The scope that a function on the way has; of the innermost, this one. */
    public SourceScope of(DebugEntry function) {
        int from = path.indexOf(function);
        int end = from + 1;
        while (end < path.size() && !isFunction(path.get(end))) {
            end++;
        }
        return new SourceScope(unit, address, path.subList(0, end), rules);
    }

    /** Parameters and variables of the innermost function, those of inner blocks last. */
    public List<SourceVariable> variables() throws MalformedInputException {
        List<SourceVariable> found = new ArrayList<>();
        for (DebugEntry block : visible()) {
            for (DebugEntry child : block.children()) {
                int tag = child.tag();
                if (tag == DwarfTag.FORMAL_PARAMETER || tag == DwarfTag.VARIABLE) {
                    variable(child, found);
                }
            }
        }
        return found;
    }

    /** The innermost function with its blocks. */
    private List<DebugEntry> visible() {
        int from = path.size() - 1;
        while (from > 0 && !isFunction(path.get(from))) {
            from--;
        }
        return path.subList(from, path.size());
    }

    private void variable(DebugEntry child, List<SourceVariable> found)
            throws MalformedInputException {
        String name = child.name();
        boolean elsewhere =
                child.flag(DwarfAttribute.DECLARATION) && !child.has(DwarfAttribute.LOCATION);
        if (!name.isEmpty() && !elsewhere) {
            found.add(describe(name, child));
        }
    }

    /** The variable of a name that counts here, of blocks or of the unit. */
    public Optional<SourceVariable> find(String name) throws MalformedInputException {
        Map<String, SourceVariable> seen = new HashMap<>();
        for (SourceVariable variable : variables()) {
            seen.put(variable.name(), variable); // an inner one hides an outer one
        }
        SourceVariable local = seen.get(name);
        return local == null ? global(name) : Optional.of(local);
    }

    private Optional<SourceVariable> global(String name) throws MalformedInputException {
        SourceVariable here = global(unit, name);
        if (here != null) {
            return Optional.of(here);
        }
        for (EntryUnit other : unit.file.addresses().units()) {
            try {
                SourceVariable there = other == unit ? null : global(other, name);
                if (there != null && there.entry().withOwn(DwarfAttribute.EXTERNAL) != null) {
                    return Optional.of(there);
                }
            } catch (MalformedInputException e) {
                // The other units may have it.
                continue;
            }
        }
        return Optional.empty();
    }

    /** The declaration of a variable that is defined where no debugging information tells of it. */
    public Optional<DebugEntry> declaration(String name) {
        for (EntryUnit in : unit.file.addresses().units()) {
            try {
                for (DebugEntry child :
                        in.isType() ? List.<DebugEntry>of() : in.root().children()) {
                    if (child.tag() == DwarfTag.VARIABLE && child.name().equals(name)) {
                        return Optional.of(child);
                    }
                }
            } catch (MalformedInputException e) {
                // The other units may have it.
                continue;
            }
        }
        return Optional.empty();
    }

    private @Nullable SourceVariable global(EntryUnit in, String name)
            throws MalformedInputException {
        return in.isType() ? null : global(in.root(), name, 0);
    }

    private @Nullable SourceVariable global(DebugEntry in, String name, int depth)
            throws MalformedInputException {
        for (DebugEntry child : in.children()) {
            if (child.tag() == DwarfTag.VARIABLE
                    && (child.has(DwarfAttribute.LOCATION) || child.has(DwarfAttribute.CONST_VALUE))
                    && child.name().equals(name)) {
                return describe(name, child);
            }
            if (child.tag() == DwarfTag.NAMESPACE && depth < 8) {
                SourceVariable inner = global(child, name, depth + 1);
                if (inner != null) {
                    return inner;
                }
            }
        }
        return null;
    }

    private SourceVariable describe(String name, DebugEntry entry) throws MalformedInputException {
        boolean parameter = entry.tag() == DwarfTag.FORMAL_PARAMETER;
        List<AddressRange> ranges = new ArrayList<>();
        ObjectLocation location;
        try {
            location = locate(entry, ranges);
        } catch (MalformedInputException e) {
            location = new UnreadableLocation(e.reason());
        }
        return new SourceVariable(
                name, entry, entry.type(), parameter, location, List.copyOf(ranges));
    }

    private ObjectLocation locate(DebugEntry entry, List<AddressRange> ranges)
            throws MalformedInputException {
        DebugEntry placed = entry.withOwn(DwarfAttribute.LOCATION);
        if (placed == null) {
            return constant(entry);
        }
        ObjectLocation found = new AbsentLocation();
        boolean isFound = false;
        for (LocationEntry part : LocationLists.of(placed, DwarfAttribute.LOCATION)) {
            AddressRange range = part.range();
            if (range != null && part.expression().byteSize() > 0) {
                ranges.add(range);
            }
            if (!isFound && part.countsAt(address)) {
                isFound = true;
                ExpressionContext place = new ExpressionContext(address, frame(), rules);
                found = SymbolicExpression.locate(placed.unit, part.expression(), place);
            }
        }
        return found;
    }

    private static ObjectLocation constant(DebugEntry entry) throws MalformedInputException {
        DebugEntry stated = entry.withOwn(DwarfAttribute.CONST_VALUE);
        if (stated == null) {
            return new AbsentLocation();
        }
        var block = stated.block(DwarfAttribute.CONST_VALUE);
        if (block != null) {
            return new ImplicitBytes(block.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
        }
        long value = stated.constant(DwarfAttribute.CONST_VALUE, 0);
        return new ImplicitValue(new ConstantValue(value));
    }

    private @Nullable DebugEntry frame() {
        for (DebugEntry entry : path) {
            if (entry.has(DwarfAttribute.FRAME_BASE)) {
                return entry;
            }
        }
        return null;
    }

    /**
     * The register that all of the function's frame is counted from (DW_AT_frame_base of one
     * DW_OP_reg or DW_OP_breg, which no address limits).
     *
     * @return DWARF's number; empty where the frame is counted otherwise
     */
    public OptionalInt frameRegister() throws MalformedInputException {
        DebugEntry function = frame();
        var block = function == null ? null : function.block(DwarfAttribute.FRAME_BASE);
        int opcode =
                block == null || block.byteSize() == 0
                        ? 0
                        : block.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0) & 0xff;
        // DW_OP_reg0 to DW_OP_breg31: two times 32 registers.
        return opcode >= 0x50 && opcode <= 0x8f
                ? OptionalInt.of((opcode - 0x50) % 32)
                : OptionalInt.empty();
    }

    /** The canonical frame address here; empty where nothing says it. */
    public Optional<SymbolicValue> frameAddress() {
        return rules.frameAddress(address);
    }

    /** The values of member offsets that are programs: where a member is in an object. */
    public static SymbolicValue member(DebugEntry member, SymbolicValue object)
            throws MalformedInputException {
        var block = member.block(DwarfAttribute.DATA_MEMBER_LOCATION);
        return block == null
                ? SymbolicValue.plus(
                        object, member.constant(DwarfAttribute.DATA_MEMBER_LOCATION, 0))
                : SymbolicExpression.member(member.unit, block, object);
    }
}
