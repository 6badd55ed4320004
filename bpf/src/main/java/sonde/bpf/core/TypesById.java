package sonde.bpf.core;

import java.util.OptionalLong;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType;

/** Types by their id, of an object or of a kernel. */
@FunctionalInterface
public interface TypesById {
    /**
     * The type of an id.
     *
     * @throws MalformedInputException when there is none
     */
    BtfType type(int id) throws MalformedInputException;

    /** The id behind typedefs and qualifiers. */
    default int skip(int id) throws MalformedInputException {
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

    /** Bytes of a value; empty where it has none. */
    default OptionalLong size(int id) throws MalformedInputException {
        long factor = 1;
        int at = id;
        for (int step = 0; step < 64; step++) {
            at = skip(at);
            switch (type(at)) {
                case BtfType.Int t -> {
                    return OptionalLong.of(factor * t.sizeBytes());
                }
                case BtfType.Float t -> {
                    return OptionalLong.of(factor * t.sizeBytes());
                }
                case BtfType.Enum t -> {
                    return OptionalLong.of(factor * t.sizeBytes());
                }
                case BtfType.Struct t -> {
                    return OptionalLong.of(factor * t.sizeBytes());
                }
                case BtfType.Ptr _ -> {
                    return OptionalLong.of(factor * 8);
                }
                case BtfType.Array array -> {
                    factor *= Integer.toUnsignedLong(array.count());
                    if (factor > 1L << 40) {
                        throw new MalformedInputException("BTF", "array", -1, "too large");
                    }
                    at = array.type();
                }
                case BtfType _ -> {
                    return OptionalLong.empty();
                }
            }
        }
        throw new MalformedInputException("BTF", "type " + id, -1, "leads back to itself");
    }
}
