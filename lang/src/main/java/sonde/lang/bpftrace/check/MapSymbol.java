package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.type.Type;

/** A map of the script: {@code @name}. */
public final class MapSymbol {
    private final String name;
    @Nullable Boolean keyed;
    @Nullable Type key;
    @Nullable Type value;
    @Nullable Type argument;

    /** Only printed or walked through: nothing says of what type it is. */
    boolean undefined;

    /** Something that is no aggregate is assigned to it. */
    boolean plain;

    String kind = "";
    long entries;

    MapSymbol(String name) {
        this.name = name;
    }

    /** With its {@code @}. */
    public String name() {
        return name;
    }

    /** Whether it has one value and no keys. */
    public boolean isScalar() {
        return !Boolean.TRUE.equals(keyed);
    }

    /** What its keys are; int64 for none. */
    public Type key() {
        Type known = key;
        return isScalar() || known == null ? Type.Int.I64 : known;
    }

    /** What its values are. */
    public Type value() {
        Type known = value;
        return known == null ? Type.Int.I8 : known;
    }

    /** Its declared kind ({@code lruhash}); empty for none. */
    public String kind() {
        return kind;
    }

    /** Its declared size; 0 for none. */
    public long entries() {
        return entries;
    }

    /** Whether its values are put together from many. */
    public boolean isAggregate() {
        return value instanceof Type.Aggregate;
    }
}
