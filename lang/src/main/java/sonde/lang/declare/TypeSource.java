package sonde.lang.declare;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.type.ValueType;

/** Where types and constants come from by their name. */
public interface TypeSource {
    /** Nothing at all: a kernel without BTF. */
    TypeSource NONE =
            new TypeSource() {
                @Override
                public @Nullable ValueType type(TypeSyntax.Kind kind, String name) {
                    return null;
                }

                @Override
                public @Nullable Long constant(String enumerator) {
                    return null;
                }

                @Override
                public boolean isThere() {
                    return false;
                }
            };

    /** A type; null for none of that name. */
    @Nullable ValueType type(TypeSyntax.Kind kind, String name);

    /** The value of a constant of an enumeration; null for none of that name. */
    @Nullable Long constant(String enumerator);

    /** Whether there is anything to look in. */
    default boolean isThere() {
        return true;
    }
}
