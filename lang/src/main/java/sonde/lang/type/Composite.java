package sonde.lang.type;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What has members: structures and unions of C, tuples and records of a script. */
public sealed interface Composite extends Type permits Struct, Tuple {
    /** Its members in order. */
    List<Field> fields();

    /**
     * A member by name, looked for in members without a name too; its offset counts from the start
     * of this. Null for none.
     */
    default @Nullable Field field(String name) {
        return find(this, name, 0);
    }

    private static @Nullable Field find(Composite in, String name, int depth) {
        for (Field field : in.fields()) {
            if (field.name().equals(name)) {
                return field;
            }
        }
        for (Field field : in.fields()) {
            if (field.name().isEmpty() && field.type() instanceof Struct inner && depth < 16) {
                Field found = find(inner, name, depth + 1);
                if (found != null) {
                    return found.shifted(field.bitOffset());
                }
            }
        }
        return null;
    }
}
