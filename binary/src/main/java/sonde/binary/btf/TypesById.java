package sonde.binary.btf;

import java.util.OptionalLong;
import sonde.binary.MalformedInputException;

/** Types by their id, of a program, an object or a kernel. */
@FunctionalInterface
public interface TypesById {
    /**
     * The type of an id.
     *
     * @throws MalformedInputException when there is none
     */
    BtfType type(int id) throws MalformedInputException;

    /** The type behind const, volatile, restrict, type tags and typedefs. */
    default int skipModifiers(int id) throws MalformedInputException {
        int at = id;
        for (int step = 0; step < 64; step++) {
            switch (type(at)) {
                case BtfType.Modifier modifier -> at = modifier.type();
                case BtfType.Typedef typedef -> at = typedef.type();
                case BtfType _ -> {
                    return at;
                }
            }
        }
        throw new MalformedInputException("BTF", "type " + id, -1, "leads back to itself");
    }

    /** Bytes a value of the type takes, empty where it has no size (functions, void). */
    default OptionalLong sizeBytes(int id) throws MalformedInputException {
        long factor = 1;
        int at = id;
        for (int step = 0; step < 64; step++) {
            at = skipModifiers(at);
            switch (type(at)) {
                case BtfType.Int one -> {
                    return OptionalLong.of(factor * one.sizeBytes());
                }
                case BtfType.Float one -> {
                    return OptionalLong.of(factor * one.sizeBytes());
                }
                case BtfType.Enum one -> {
                    return OptionalLong.of(factor * one.sizeBytes());
                }
                case BtfType.Struct one -> {
                    return OptionalLong.of(factor * one.sizeBytes());
                }
                case BtfType.Datasec one -> {
                    return OptionalLong.of(factor * one.sizeBytes());
                }
                case BtfType.Ptr _ -> {
                    return OptionalLong.of(factor * 8);
                }
                case BtfType.Array array -> {
                    long count = array.count() & 0xffff_ffffL;
                    if (count != 0 && factor > (1L << 40) / count) {
                        throw new MalformedInputException("BTF", "array", -1, "too large");
                    }
                    factor *= count;
                    at = array.type();
                }
                case BtfType.Var one -> at = one.type();
                case BtfType _ -> {
                    return OptionalLong.empty();
                }
            }
        }
        throw new MalformedInputException("BTF", "type " + id, -1, "leads back to itself");
    }
}
