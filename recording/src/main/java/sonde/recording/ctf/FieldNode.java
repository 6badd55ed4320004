package sonde.recording.ctf;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ctf.schema.FieldClass.VariantOption;
import sonde.recording.ctf.schema.FieldLength;
import sonde.recording.ctf.schema.FieldLength.LengthField;
import sonde.recording.ctf.schema.FieldLocation;
import sonde.recording.ctf.schema.ValueRange;

/** A field in its place in a root structure. */
final class FieldNode {
    private static final int MOST_DEPTH = 100;

    final FieldClass type;

    /** Its name in the structure or variant around it. */
    final String name;

    final @Nullable FieldNode parent;
    final List<FieldNode> children = new ArrayList<>();

    /** Where its value is kept for later fields, -1 when none needs it. */
    int slot = -1;

    /** Whether a shown field needs it. */
    boolean needed;

    /** Whether users see it. */
    boolean shown;

    /** Slot of the field that it depends on, -1 for none. */
    int selector = -1;

    /**
     * For a variant, the values that choose each option; for an optional, those that switch it on.
     */
    List<List<ValueRange>> choices = List.of();

    /** Whether the selector of a variant or optional is signed. */
    boolean signedSelector;

    /** Where it lies in the payload: a value, a span, or the number of the chosen option. */
    int at = -1;

    /** The name of its field in the event type. */
    String path = "";

    /** How it is read where it lies in an array of values. */
    @Nullable ReadOp single;

    /** Where the span of the values lies, for an array that is not of integers. */
    int valuesAt = -1;

    private FieldNode(FieldClass type, String name, @Nullable FieldNode parent) {
        this.type = type;
        this.name = name;
        this.parent = parent;
    }

    /** How many nodes there are, so that types used in each other stay bounded. */
    static final class NodeBudget {
        private static final int MOST = 1 << 20;
        private int count;

        void take() throws MalformedInputException {
            if (++count > MOST) {
                throw new MalformedInputException(
                        "ctf", "metadata", -1, "more than " + MOST + " fields");
            }
        }
    }

    static FieldNode of(FieldClass type, String name, @Nullable FieldNode parent, NodeBudget budget)
            throws MalformedInputException {
        return of(type, name, parent, budget, 0);
    }

    private static FieldNode of(
            FieldClass type, String name, @Nullable FieldNode parent, NodeBudget budget, int depth)
            throws MalformedInputException {
        budget.take();
        if (depth > MOST_DEPTH) {
            throw new MalformedInputException(
                    "ctf", "metadata", -1, "more than " + MOST_DEPTH + " types in each other");
        }
        FieldNode node = new FieldNode(type, name, parent);
        switch (type) {
            case StructureClass structure -> {
                for (FieldClass.Member member : structure.members()) {
                    node.children.add(of(member.type(), member.name(), node, budget, depth + 1));
                }
            }
            case FieldClass.Array array ->
                    node.children.add(of(array.element(), "", node, budget, depth + 1));
            case VariantClass variant -> {
                for (VariantOption option : variant.options()) {
                    node.children.add(of(option.type(), option.name(), node, budget, depth + 1));
                }
            }
            case FieldClass.Optional optional ->
                    node.children.add(of(optional.type(), "", node, budget, depth + 1));
            case BitField bits -> {}
            case FieldClass.VariableInteger variable -> {}
            case FieldClass.WideInteger wide -> {}
            case FieldClass.Real real -> {}
            case TextClass text -> {}
            case FieldClass.Blob blob -> {}
        }
        return node;
    }

    /** Where its length or choice comes from; null when it depends on nothing. */
    @Nullable FieldLocation dependsOn() {
        FieldLength length =
                switch (type) {
                    case VariantClass variant -> {
                        yield new LengthField(variant.selector());
                    }
                    case FieldClass.Optional optional -> new LengthField(optional.selector());
                    case FieldClass.Array array -> array.length();
                    case TextClass text -> text.length();
                    case FieldClass.Blob blob -> blob.length();
                    case BitField bits -> new FieldLength.Fixed(1);
                    case FieldClass.VariableInteger variable -> new FieldLength.Fixed(1);
                    case FieldClass.WideInteger wide -> new FieldLength.Fixed(1);
                    case FieldClass.Real real -> new FieldLength.Fixed(1);
                    case StructureClass structure -> new FieldLength.Fixed(1);
                };
        return length instanceof LengthField of ? of.location() : null;
    }

    /** Whether it is an array whose elements are kept as integers. */
    boolean isIntegers() {
        return type instanceof FieldClass.Array array && array.element() instanceof BitField;
    }
}
