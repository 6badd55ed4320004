package sonde.bpf.object;

import java.io.IOException;

/**
 * An object that cannot be read, linked, fitted to the kernel or attached: what is wrong, and where
 * in the object.
 */
public final class ObjectException extends IOException {
    private static final long serialVersionUID = 1L;

    private final transient ObjectPosition place;
    private final String reason;

    /**
     * Where in an object; what is not known is empty.
     *
     * @param object its name
     * @param section of the ELF file
     * @param symbol function, variable, map or type
     * @param instruction slot in the section, -1 for none
     */
    public record ObjectPosition(String object, String section, String symbol, int instruction) {
        /** The object as a whole. */
        public static ObjectPosition of(String object) {
            return new ObjectPosition(object, "", "", -1);
        }

        /** A section of it. */
        public ObjectPosition section(String name) {
            return new ObjectPosition(object, name, symbol, instruction);
        }

        /** Something with a name in it. */
        public ObjectPosition symbol(String name) {
            return new ObjectPosition(object, section, name, instruction);
        }

        /** An instruction in it. */
        public ObjectPosition at(int slot) {
            return new ObjectPosition(object, section, symbol, slot);
        }

        /** {@code "a.bpf.o, section xdp, symbol main, instruction 3"}. */
        @Override
        public String toString() {
            return object
                    + (section.isEmpty() ? "" : ", section " + section)
                    + (symbol.isEmpty() ? "" : ", symbol " + symbol)
                    + (instruction < 0 ? "" : ", instruction " + instruction);
        }
    }

    /**
     * @param place where
     * @param reason in words
     */
    public ObjectException(ObjectPosition place, String reason) {
        super(place + ": " + reason);
        this.place = place;
        this.reason = reason;
    }

    /** As the other, with what led to it. */
    public ObjectException(ObjectPosition place, String reason, Throwable cause) {
        super(place + ": " + reason, cause);
        this.place = place;
        this.reason = reason;
    }

    /** Where. */
    public ObjectPosition place() {
        return place;
    }

    /** Why, without the place. */
    public String reason() {
        return reason;
    }
}
