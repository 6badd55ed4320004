package sonde.recording.ctf.tsdl;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;

/** Names of types in a block and in the blocks around it. */
final class TsdlTypes {
    private final @Nullable TsdlTypes outer;
    private final Map<String, FieldClass> named = new HashMap<>();
    private final Map<String, VariantClass> untagged = new HashMap<>();

    TsdlTypes(@Nullable TsdlTypes outer) {
        this.outer = outer;
    }

    @Nullable FieldClass find(String name) {
        for (TsdlTypes types = this; types != null; types = types.outer) {
            FieldClass found = types.named.get(name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** Options of a variant that was declared without the field that chooses. */
    FieldClass.@Nullable VariantClass findVariant(String name) {
        for (TsdlTypes types = this; types != null; types = types.outer) {
            VariantClass found = types.untagged.get(name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** Whether the name was free in this block. */
    boolean define(String name, FieldClass type) {
        return named.putIfAbsent(name, type) == null;
    }

    void defineVariant(String name, VariantClass type) {
        untagged.putIfAbsent(name, type);
    }
}
