package sonde.recording.ctf;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.BitMeaning;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.VariableInteger;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ctf.schema.FieldClass.VariantOption;
import sonde.recording.ctf.schema.FieldLocation;
import sonde.recording.ctf.schema.FieldLocation.NearestStructure;
import sonde.recording.ctf.schema.FieldLocation.RootStructure;
import sonde.recording.ctf.schema.FieldLocation.SameStructure;
import sonde.recording.ctf.schema.LabelRanges;
import sonde.recording.ctf.schema.RootScope;
import sonde.recording.ctf.schema.ValueRange;

/** Finds the fields that lengths and choices come from, and gives each a slot. */
final class FieldLinks {
    private final Map<RootScope, FieldNode> roots = new EnumMap<>(RootScope.class);
    private final List<FieldNode> path = new ArrayList<>();
    private int slots;

    /** As many slots as have been given out. */
    int slots() {
        return slots;
    }

    int newSlot() {
        return slots++;
    }

    /** The root from now on; null takes it away. */
    void root(RootScope scope, @Nullable FieldNode root) throws MalformedInputException {
        if (root == null) {
            roots.remove(scope);
            return;
        }
        roots.put(scope, root);
        link(scope, root);
    }

    private void link(RootScope scope, FieldNode node) throws MalformedInputException {
        FieldLocation location = node.dependsOn();
        if (location != null) {
            List<FieldNode> targets = find(scope, node, location);
            bind(node, targets, location);
        }
        path.add(node);
        for (FieldNode child : node.children) {
            link(scope, child);
        }
        path.removeLast();
    }

    private MalformedInputException malformed(FieldNode node, FieldLocation location, String why) {
        return new MalformedInputException(
                "ctf", "metadata", -1, "field " + node.name + " depends on " + location + why);
    }

    private List<FieldNode> find(RootScope scope, FieldNode node, FieldLocation location)
            throws MalformedInputException {
        List<FieldNode> found =
                switch (location.start()) {
                    case RootStructure root -> {
                        FieldNode from = roots.get(root.scope());
                        yield from == null ? List.of() : follow(from, location.path(), node);
                    }
                    case SameStructure here -> {
                        FieldNode from = around(node);
                        yield from == null ? List.of() : follow(from, location.path(), node);
                    }
                    case NearestStructure nearest -> nearest(scope, node, location);
                };
        if (found.isEmpty()) {
            throw malformed(node, location, ", and there is no such field before it");
        }
        return found;
    }

    private List<FieldNode> nearest(RootScope scope, FieldNode node, FieldLocation location) {
        for (FieldNode from = around(node); from != null; from = around(from)) {
            List<FieldNode> found = follow(from, location.path(), node);
            if (!found.isEmpty()) {
                return found;
            }
        }
        RootScope[] scopes = RootScope.values();
        for (int i = scope.ordinal() - 1; i >= 0; i--) {
            FieldNode from = roots.get(scopes[i]);
            List<FieldNode> found = from == null ? List.of() : follow(from, location.path(), node);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** The nearest structure around a field. */
    private static @Nullable FieldNode around(FieldNode node) {
        FieldNode up = node.parent;
        while (up != null && !(up.type instanceof StructureClass)) {
            up = up.parent;
        }
        return up;
    }

    /** The fields at the end of a path; several when it leads through a variant. */
    private List<FieldNode> follow(
            FieldNode from, List<@Nullable String> names, FieldNode dependent) {
        List<FieldNode> current = List.of(from);
        for (String name : names) {
            List<FieldNode> next = new ArrayList<>();
            for (FieldNode node : current) {
                if (name == null) {
                    FieldNode up = around(node);
                    if (up != null) {
                        next.add(up);
                    }
                } else {
                    step(node, name, dependent, next);
                }
            }
            current = next;
        }
        List<FieldNode> leaves = new ArrayList<>();
        current.forEach(node -> leaves(node, dependent, leaves));
        return leaves;
    }

    private void step(FieldNode node, String name, FieldNode dependent, List<FieldNode> next) {
        switch (node.type) {
            case StructureClass structure -> {
                for (FieldNode child : node.children) {
                    if (child == dependent
                            || isAround(child, dependent) && child.name.equals(name)) {
                        if (child != dependent) {
                            next.add(child);
                        }
                        return; // what comes behind is not decoded yet
                    }
                    if (child.name.equals(name)) {
                        next.add(child);
                        return;
                    }
                    if (isAround(child, dependent)) {
                        return;
                    }
                }
            }
            case VariantClass variant -> options(node, name, dependent, next);
            case FieldClass.Optional optional -> step(node.children.get(0), name, dependent, next);
            case FieldClass.Array array -> {
                if (isAround(node, dependent)) {
                    step(node.children.get(0), name, dependent, next);
                }
            }
            default -> {}
        }
    }

    /** The option that is being decoded, else all that may have been; TSDL may name one. */
    private void options(
            FieldNode variant, String name, FieldNode dependent, List<FieldNode> next) {
        for (FieldNode option : variant.children) {
            if (isAround(option, dependent) || option == dependent) {
                if (option.name.equals(name) && option != dependent) {
                    next.add(option);
                } else {
                    step(option, name, dependent, next);
                }
                return;
            }
        }
        for (FieldNode option : variant.children) {
            step(option, name, dependent, next);
        }
    }

    private static boolean isAround(FieldNode outer, FieldNode inner) {
        for (FieldNode up = inner.parent; up != null; up = up.parent) {
            if (up == outer) {
                return true;
            }
        }
        return false;
    }

    private static void leaves(FieldNode node, FieldNode dependent, List<FieldNode> leaves) {
        switch (node.type) {
            case BitField bits -> leaves.add(node);
            case VariableInteger variable -> leaves.add(node);
            case VariantClass variant ->
                    node.children.forEach(child -> leaves(child, dependent, leaves));
            case FieldClass.Optional optional -> leaves(node.children.get(0), dependent, leaves);
            default -> {}
        }
    }

    private void bind(FieldNode node, List<FieldNode> targets, FieldLocation location)
            throws MalformedInputException {
        FieldNode first = targets.get(0);
        boolean signed = isSigned(first);
        boolean isLength =
                !(node.type instanceof VariantClass) && !(node.type instanceof FieldClass.Optional);
        int slot = -1;
        for (FieldNode target : targets) {
            boolean isNumber = !(target.type instanceof BitField bits) || isNumber(bits, isLength);
            if (!isNumber || isSigned(target) != signed || isLength && signed) {
                throw malformed(node, location, ", which is no unsigned integer");
            }
            slot = Math.max(slot, target.slot);
        }
        if (slot < 0) {
            slot = newSlot();
        }
        for (FieldNode target : targets) {
            // Two dependents may share some of their targets but not all.
            if (target.slot >= 0 && target.slot != slot) {
                throw malformed(node, location, ", which several fields share in part");
            }
            target.slot = slot;
            target.needed = true;
        }
        node.selector = slot;
        node.signedSelector = signed;
        if (node.type instanceof VariantClass variant) {
            node.choices = choices(node, variant, mappings(first), location);
        } else if (node.type instanceof FieldClass.Optional optional) {
            List<ValueRange> ranges = optional.ranges();
            node.choices = List.of(ranges == null ? List.of(new ValueRange(1, -1)) : ranges);
        }
    }

    private static boolean isNumber(BitField bits, boolean isLength) {
        return switch (bits.meaning()) {
            case INTEGER, ENUMERATION -> true;
            case BOOLEAN -> !isLength;
            case BITS, BIT_MAP -> false;
        };
    }

    private static boolean isSigned(FieldNode node) {
        return switch (node.type) {
            case BitField bits -> bits.signed();
            case VariableInteger variable -> variable.signed();
            default -> false;
        };
    }

    private static List<LabelRanges> mappings(FieldNode node) {
        return switch (node.type) {
            case BitField bits ->
                    bits.meaning() == BitMeaning.ENUMERATION ? bits.mappings() : List.of();
            case VariableInteger variable -> variable.mappings();
            default -> List.of();
        };
    }

    private List<List<ValueRange>> choices(
            FieldNode node,
            VariantClass variant,
            List<LabelRanges> mappings,
            FieldLocation location)
            throws MalformedInputException {
        List<List<ValueRange>> choices = new ArrayList<>();
        for (VariantOption option : variant.options()) {
            List<ValueRange> ranges = option.ranges();
            if (ranges == null) {
                if (mappings.isEmpty()) {
                    throw malformed(node, location, ", which is no enum");
                }
                ranges = labelled(option.name(), mappings);
            }
            choices.add(ranges);
        }
        return choices;
    }

    /** Labels and options may differ by the underscore that TSDL puts before keywords. */
    private static List<ValueRange> labelled(String option, List<LabelRanges> mappings) {
        for (LabelRanges mapping : mappings) {
            if (mapping.label().equals(option)) {
                return mapping.ranges();
            }
        }
        for (LabelRanges mapping : mappings) {
            if (option.equals("_" + mapping.label()) || mapping.label().equals("_" + option)) {
                return mapping.ranges();
            }
        }
        return List.of();
    }
}
