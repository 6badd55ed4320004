package sonde.lang.type;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What has members: structures and unions of C, tuples and records of a script. */
public sealed interface CompositeType extends ValueType permits StructType, TupleType {
    /** Its members in order. */
    List<TypeField> fields();

    /**
     * A member by name, looked for in members without a name too; its offset counts from the start
     * of this. Null for none.
     */
    default @Nullable TypeField field(String name) {
        return find(this, name, 0);
    }

    private static @Nullable TypeField find(CompositeType in, String name, int depth) {
        for (TypeField field : in.fields()) {
            if (field.name().equals(name)) {
                return field;
            }
        }
        for (TypeField field : in.fields()) {
            if (field.name().isEmpty() && field.type() instanceof StructType inner && depth < 16) {
                TypeField found = find(inner, name, depth + 1);
                if (found != null) {
                    return found.shifted(field.bitOffset());
                }
            }
        }
        return null;
    }
}
