package sonde.binary.dwarf.location;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;

/** What a line of source can see at an address: its function, blocks and their variables. */
public final class Scope {
    private final EntryUnit unit;
    private final long address;
    private final List<Entry> path;
    private final FrameRules rules;

    /**
     * At an address.
     *
     * @param path from the outermost function to the innermost block
     */
    Scope(EntryUnit unit, long address, List<Entry> path, FrameRules rules) {
        this.unit = unit;
        this.address = address;
        this.path = path;
        this.rules = rules;
    }

    /** The unit of the code. */
    public EntryUnit unit() {
        return unit;
    }

    /** As stated in the ELF. */
    public long address() {
        return address;
    }

    /** The functions: the one that has code of its own, then what was inlined, innermost last. */
    public List<Entry> functions() {
        return path.stream().filter(Scope::isFunction).toList();
    }

    /** The innermost function. */
    public Entry function() {
        return functions().getLast();
    }

    private static boolean isFunction(Entry entry) {
        return entry.tag() == Tag.SUBPROGRAM || entry.tag() == Tag.INLINED_SUBROUTINE;
    }

    /** The scope that a function on the way has; of the innermost, this one. */
    public Scope of(Entry function) {
        int from = path.indexOf(function);
        int end = from + 1;
        while (end < path.size() && !isFunction(path.get(end))) {
            end++;
        }
        return new Scope(unit, address, path.subList(0, end), rules);
    }

    /** Parameters and variables of the innermost function, those of inner blocks last. */
    public List<Variable> variables() throws MalformedInputException {
        List<Variable> found = new ArrayList<>();
        for (Entry block : visible()) {
            for (Entry child : block.children()) {
                int tag = child.tag();
                if (tag == Tag.FORMAL_PARAMETER || tag == Tag.VARIABLE) {
                    variable(child, found);
                }
            }
        }
        return found;
    }

    /** The innermost function with its blocks. */
    private List<Entry> visible() {
        int from = path.size() - 1;
        while (from > 0 && !isFunction(path.get(from))) {
            from--;
        }
        return path.subList(from, path.size());
    }

    private void variable(Entry child, List<Variable> found) throws MalformedInputException {
        String name = child.name();
        boolean elsewhere = child.flag(Attribute.DECLARATION) && !child.has(Attribute.LOCATION);
        if (!name.isEmpty() && !elsewhere) {
            found.add(describe(name, child));
        }
    }

    /** The variable of a name that counts here, of blocks or of the unit. */
    public Optional<Variable> find(String name) throws MalformedInputException {
        Map<String, Variable> seen = new HashMap<>();
        for (Variable variable : variables()) {
            seen.put(variable.name(), variable); // an inner one hides an outer one
        }
        Variable local = seen.get(name);
        return local == null ? global(name) : Optional.of(local);
    }

    private Optional<Variable> global(String name) throws MalformedInputException {
        Variable here = global(unit, name);
        if (here != null) {
            return Optional.of(here);
        }
        for (EntryUnit other : unit.file.addresses().units()) {
            try {
                Variable there = other == unit ? null : global(other, name);
                if (there != null && there.entry().withOwn(Attribute.EXTERNAL) != null) {
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
    public Optional<Entry> declaration(String name) {
        for (EntryUnit in : unit.file.addresses().units()) {
            try {
                for (Entry child : in.isType() ? List.<Entry>of() : in.root().children()) {
                    if (child.tag() == Tag.VARIABLE && child.name().equals(name)) {
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

    private @Nullable Variable global(EntryUnit in, String name) throws MalformedInputException {
        return in.isType() ? null : global(in.root(), name, 0);
    }

    private @Nullable Variable global(Entry in, String name, int depth)
            throws MalformedInputException {
        for (Entry child : in.children()) {
            if (child.tag() == Tag.VARIABLE
                    && (child.has(Attribute.LOCATION) || child.has(Attribute.CONST_VALUE))
                    && child.name().equals(name)) {
                return describe(name, child);
            }
            if (child.tag() == Tag.NAMESPACE && depth < 8) {
                Variable inner = global(child, name, depth + 1);
                if (inner != null) {
                    return inner;
                }
            }
        }
        return null;
    }

    private Variable describe(String name, Entry entry) throws MalformedInputException {
        boolean parameter = entry.tag() == Tag.FORMAL_PARAMETER;
        List<AddressRange> ranges = new ArrayList<>();
        Location location;
        try {
            location = locate(entry, ranges);
        } catch (MalformedInputException e) {
            location = new Location.Unreadable(e.reason());
        }
        return new Variable(name, entry, entry.type(), parameter, location, List.copyOf(ranges));
    }

    private Location locate(Entry entry, List<AddressRange> ranges) throws MalformedInputException {
        Entry placed = entry.withOwn(Attribute.LOCATION);
        if (placed == null) {
            return constant(entry);
        }
        Location found = new Location.Absent();
        boolean isFound = false;
        for (LocationLists.Part part : LocationLists.of(placed, Attribute.LOCATION)) {
            AddressRange range = part.range();
            if (range != null && part.expression().byteSize() > 0) {
                ranges.add(range);
            }
            if (!isFound && part.countsAt(address)) {
                isFound = true;
                ExpressionMachine.Place place =
                        new ExpressionMachine.Place(address, frame(), rules);
                found = ExpressionMachine.locate(placed.unit, part.expression(), place);
            }
        }
        return found;
    }

    private static Location constant(Entry entry) throws MalformedInputException {
        Entry stated = entry.withOwn(Attribute.CONST_VALUE);
        if (stated == null) {
            return new Location.Absent();
        }
        var block = stated.block(Attribute.CONST_VALUE);
        if (block != null) {
            return new Location.Bytes(block.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
        }
        long value = stated.constant(Attribute.CONST_VALUE, 0);
        return new Location.Computed(new Value.Constant(value));
    }

    private @Nullable Entry frame() {
        for (Entry entry : path) {
            if (entry.has(Attribute.FRAME_BASE)) {
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
        Entry function = frame();
        var block = function == null ? null : function.block(Attribute.FRAME_BASE);
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
    public Optional<Value> frameAddress() {
        return rules.frameAddress(address);
    }

    /** The values of member offsets that are programs: where a member is in an object. */
    public static Value member(Entry member, Value object) throws MalformedInputException {
        var block = member.block(Attribute.DATA_MEMBER_LOCATION);
        return block == null
                ? Value.plus(object, member.constant(Attribute.DATA_MEMBER_LOCATION, 0))
                : ExpressionMachine.member(member.unit, block, object);
    }
}
