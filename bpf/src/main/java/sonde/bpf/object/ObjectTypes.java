package sonde.bpf.object;

import java.util.List;
import sonde.binary.btf.BtfType;
import sonde.bpf.object.ObjectException.ObjectPosition;

/** Questions about the types of an object, whose references may lead anywhere. */
final class ObjectTypes {
    private static final int MOST_STEPS = 64;
    private static final long MOST_BYTES = 1L << 30;

    private ObjectTypes() {}

    static BtfType at(List<BtfType> types, int id, ObjectPosition place) throws ObjectException {
        if (id < 0 || id >= types.size()) {
            throw new ObjectException(
                    place, "BTF type " + Integer.toUnsignedString(id) + " of " + types.size());
        }
        return types.get(id);
    }

    /** The id behind typedefs and qualifiers. */
    static int skipId(List<BtfType> types, int id, ObjectPosition place) throws ObjectException {
        int at = id;
        for (int step = 0; step < MOST_STEPS; step++) {
            switch (at(types, at, place)) {
                case BtfType.Modifier modifier -> at = modifier.type();
                case BtfType.Typedef typedef -> at = typedef.type();
                case BtfType _ -> {
                    return at;
                }
            }
        }
        throw new ObjectException(place, "BTF type " + id + " leads back to itself");
    }

    /** The type behind typedefs and qualifiers. */
    static BtfType skip(List<BtfType> types, int id, ObjectPosition place) throws ObjectException {
        return types.get(skipId(types, id, place));
    }

    /** Bytes of a value. */
    static int size(List<BtfType> types, int id, ObjectPosition place) throws ObjectException {
        long factor = 1;
        int at = id;
        for (int step = 0; step < MOST_STEPS; step++) {
            long size =
                    switch (skip(types, at, place)) {
                        case BtfType.Int t -> t.sizeBytes();
                        case BtfType.Float t -> t.sizeBytes();
                        case BtfType.Enum t -> t.sizeBytes();
                        case BtfType.Struct t -> t.sizeBytes();
                        case BtfType.Datasec t -> t.sizeBytes();
                        case BtfType.Ptr _ -> 8;
                        case BtfType.Array array -> {
                            at = array.type();
                            factor *= Integer.toUnsignedLong(array.count());
                            yield -1;
                        }
                        case BtfType.Var v -> {
                            at = v.type();
                            yield -1;
                        }
                        case BtfType other ->
                                throw new ObjectException(
                                        place, "BTF type " + other.name() + " has no size");
                    };
            if (factor > MOST_BYTES || size > MOST_BYTES || factor * size > MOST_BYTES) {
                throw new ObjectException(place, "BTF type " + id + " is too large");
            }
            if (size >= 0) {
                return (int) (factor * size);
            }
        }
        throw new ObjectException(place, "BTF type " + id + " leads back to itself");
    }
}
