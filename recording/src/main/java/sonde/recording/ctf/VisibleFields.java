package sonde.recording.ctf;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;

/**
 * Which fields users see: not those that only tell the reader about packets and clocks, unless a
 * field that is seen depends on them.
 */
final class VisibleFields {
    private VisibleFields() {}

    /**
     * Marks the fields of a root; those of roots behind it have been marked.
     *
     * @param hasRoles whether fields of that root may tell the reader something
     */
    static void mark(@Nullable FieldNode root, boolean hasRoles) {
        if (root != null) {
            root.shown = isShown(root, hasRoles);
        }
    }

    private static boolean isShown(FieldNode node, boolean hasRoles) {
        node.shown =
                switch (node.type) {
                    case BitField bits ->
                            (!hasRoles || bits.roles().isEmpty()) && bits.clock() == null
                                    || node.needed;
                    case FieldClass.VariableInteger variable ->
                            !hasRoles || variable.roles().isEmpty() || node.needed;
                    case FieldClass.Blob blob -> !hasRoles || blob.roles().isEmpty();
                    case StructureClass structure ->
                            anyBackwards(node.children, hasRoles) || node.children.isEmpty();
                    case VariantClass variant -> any(node, hasRoles);
                    case FieldClass.Optional optional -> any(node, hasRoles);
                    case FieldClass.Array array -> any(node, hasRoles);
                    case FieldClass.WideInteger wide -> true;
                    case FieldClass.Real real -> true;
                    case TextClass text -> true;
                };
        return node.shown;
    }

    private static boolean any(FieldNode node, boolean hasRoles) {
        boolean any = anyBackwards(node.children, hasRoles);
        if (any && node.type instanceof VariantClass) {
            // Whichever option is chosen is shown.
            node.children.forEach(child -> child.shown = true);
        }
        return any;
    }

    private static boolean anyBackwards(List<FieldNode> nodes, boolean hasRoles) {
        boolean any = false;
        for (int i = nodes.size() - 1; i >= 0; i--) {
            any |= isShown(nodes.get(i), hasRoles);
        }
        return any;
    }
}
