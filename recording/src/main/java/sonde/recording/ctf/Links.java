package sonde.recording.ctf;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.Bits;
import sonde.recording.ctf.schema.FieldClass.Meaning;
import sonde.recording.ctf.schema.FieldClass.VariableInteger;
import sonde.recording.ctf.schema.Location;
import sonde.recording.ctf.schema.Mapping;
import sonde.recording.ctf.schema.Range;
import sonde.recording.ctf.schema.Scope;

/** Finds the fields that lengths and choices come from, and gives each a slot. */
final class Links {
    private final Map<Scope, Node> roots = new EnumMap<>(Scope.class);
    private final List<Node> path = new ArrayList<>();
    private int slots;

    /** As many slots as have been given out. */
    int slots() {
        return slots;
    }

    int newSlot() {
        return slots++;
    }

    /** The root from now on; null takes it away. */
    void root(Scope scope, @Nullable Node root) throws MalformedInputException {
        if (root == null) {
            roots.remove(scope);
            return;
        }
        roots.put(scope, root);
        link(scope, root);
    }

    private void link(Scope scope, Node node) throws MalformedInputException {
        Location location = node.dependsOn();
        if (location != null) {
            List<Node> targets = find(scope, node, location);
            bind(node, targets, location);
        }
        path.add(node);
        for (Node child : node.children) {
            link(scope, child);
        }
        path.removeLast();
    }

    private MalformedInputException malformed(Node node, Location location, String why) {
        return new MalformedInputException(
                "ctf", "metadata", -1, "field " + node.name + " depends on " + location + why);
    }

    private List<Node> find(Scope scope, Node node, Location location)
            throws MalformedInputException {
        List<Node> found =
                switch (location.start()) {
                    case Location.Root root -> {
                        Node from = roots.get(root.scope());
                        yield from == null ? List.of() : follow(from, location.path(), node);
                    }
                    case Location.Here here -> {
                        Node from = around(node);
                        yield from == null ? List.of() : follow(from, location.path(), node);
                    }
                    case Location.Nearest nearest -> nearest(scope, node, location);
                };
        if (found.isEmpty()) {
            throw malformed(node, location, ", and there is no such field before it");
        }
        return found;
    }

    private List<Node> nearest(Scope scope, Node node, Location location) {
        for (Node from = around(node); from != null; from = around(from)) {
            List<Node> found = follow(from, location.path(), node);
            if (!found.isEmpty()) {
                return found;
            }
        }
        Scope[] scopes = Scope.values();
        for (int i = scope.ordinal() - 1; i >= 0; i--) {
            Node from = roots.get(scopes[i]);
            List<Node> found = from == null ? List.of() : follow(from, location.path(), node);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** The nearest structure around a field. */
    private static @Nullable Node around(Node node) {
        Node up = node.parent;
        while (up != null && !(up.type instanceof FieldClass.Structure)) {
            up = up.parent;
        }
        return up;
    }

    /** The fields at the end of a path; several when it leads through a variant. */
    private List<Node> follow(Node from, List<@Nullable String> names, Node dependent) {
        List<Node> current = List.of(from);
        for (String name : names) {
            List<Node> next = new ArrayList<>();
            for (Node node : current) {
                if (name == null) {
                    Node up = around(node);
                    if (up != null) {
                        next.add(up);
                    }
                } else {
                    step(node, name, dependent, next);
                }
            }
            current = next;
        }
        List<Node> leaves = new ArrayList<>();
        current.forEach(node -> leaves(node, dependent, leaves));
        return leaves;
    }

    private void step(Node node, String name, Node dependent, List<Node> next) {
        switch (node.type) {
            case FieldClass.Structure structure -> {
                for (Node child : node.children) {
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
            case FieldClass.Variant variant -> options(node, name, dependent, next);
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
    private void options(Node variant, String name, Node dependent, List<Node> next) {
        for (Node option : variant.children) {
            if (isAround(option, dependent) || option == dependent) {
                if (option.name.equals(name) && option != dependent) {
                    next.add(option);
                } else {
                    step(option, name, dependent, next);
                }
                return;
            }
        }
        for (Node option : variant.children) {
            step(option, name, dependent, next);
        }
    }

    private static boolean isAround(Node outer, Node inner) {
        for (Node up = inner.parent; up != null; up = up.parent) {
            if (up == outer) {
                return true;
            }
        }
        return false;
    }

    private static void leaves(Node node, Node dependent, List<Node> leaves) {
        switch (node.type) {
            case Bits bits -> leaves.add(node);
            case VariableInteger variable -> leaves.add(node);
            case FieldClass.Variant variant ->
                    node.children.forEach(child -> leaves(child, dependent, leaves));
            case FieldClass.Optional optional -> leaves(node.children.get(0), dependent, leaves);
            default -> {}
        }
    }

    private void bind(Node node, List<Node> targets, Location location)
            throws MalformedInputException {
        Node first = targets.get(0);
        boolean signed = isSigned(first);
        boolean isLength =
                !(node.type instanceof FieldClass.Variant)
                        && !(node.type instanceof FieldClass.Optional);
        int slot = -1;
        for (Node target : targets) {
            boolean isNumber = !(target.type instanceof Bits bits) || isNumber(bits, isLength);
            if (!isNumber || isSigned(target) != signed || isLength && signed) {
                throw malformed(node, location, ", which is no unsigned integer");
            }
            slot = Math.max(slot, target.slot);
        }
        if (slot < 0) {
            slot = newSlot();
        }
        for (Node target : targets) {
            // Two dependents may share some of their targets but not all.
            if (target.slot >= 0 && target.slot != slot) {
                throw malformed(node, location, ", which several fields share in part");
            }
            target.slot = slot;
            target.needed = true;
        }
        node.selector = slot;
        node.signedSelector = signed;
        if (node.type instanceof FieldClass.Variant variant) {
            node.choices = choices(node, variant, mappings(first), location);
        } else if (node.type instanceof FieldClass.Optional optional) {
            List<Range> ranges = optional.ranges();
            node.choices = List.of(ranges == null ? List.of(new Range(1, -1)) : ranges);
        }
    }

    private static boolean isNumber(Bits bits, boolean isLength) {
        return switch (bits.meaning()) {
            case INTEGER, ENUMERATION -> true;
            case BOOLEAN -> !isLength;
            case BITS, BIT_MAP -> false;
        };
    }

    private static boolean isSigned(Node node) {
        return switch (node.type) {
            case Bits bits -> bits.signed();
            case VariableInteger variable -> variable.signed();
            default -> false;
        };
    }

    private static List<Mapping> mappings(Node node) {
        return switch (node.type) {
            case Bits bits -> bits.meaning() == Meaning.ENUMERATION ? bits.mappings() : List.of();
            case VariableInteger variable -> variable.mappings();
            default -> List.of();
        };
    }

    private List<List<Range>> choices(
            Node node, FieldClass.Variant variant, List<Mapping> mappings, Location location)
            throws MalformedInputException {
        List<List<Range>> choices = new ArrayList<>();
        for (FieldClass.Option option : variant.options()) {
            List<Range> ranges = option.ranges();
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
    private static List<Range> labelled(String option, List<Mapping> mappings) {
        for (Mapping mapping : mappings) {
            if (mapping.label().equals(option)) {
                return mapping.ranges();
            }
        }
        for (Mapping mapping : mappings) {
            if (option.equals("_" + mapping.label()) || mapping.label().equals("_" + option)) {
                return mapping.ranges();
            }
        }
        return List.of();
    }
}
