package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.IntType;

/** A map of the script: {@code @name}. */
public final class MapSymbol {
    private final String name;
    @Nullable Boolean keyed;
    @Nullable ValueType key;
    @Nullable ValueType value;
    @Nullable ValueType argument;

    /** Only printed or walked through: nothing says of what type it is. */
    boolean undefined;

    /** Something that is not an aggregate is assigned to it. */
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
    public ValueType key() {
        ValueType known = key;
        return isScalar() || known == null ? IntType.I64 : known;
    }

    /** What its values are. */
    public ValueType value() {
        ValueType known = value;
        return known == null ? IntType.I8 : known;
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
        return value instanceof AggregateType;
    }
}
