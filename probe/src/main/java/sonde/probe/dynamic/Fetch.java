package sonde.probe.dynamic;

import sonde.binary.dwarf.location.Value;

/**
 * An address or number as the kernel's fetch arguments can express it
 * (Documentation/trace/kprobetrace.rst): something known, and a constant added to it. The kernel
 * reads what stands at such an address; it cannot hand out the sum itself.
 */
record Fetch(Origin origin, long offset) {
    /** What the constant is added to. */
    sealed interface Origin {
        /** Nothing: the constant is all. */
        record Zero() implements Origin {}

        /** Where the program is loaded; the constant is an address as stated in the ELF. */
        record Program() implements Origin {}

        /** A word of the kernel's: {@code %di}, {@code $retval}, {@code $stack}. */
        record Token(String text) implements Origin {}

        /** What stands in memory there. */
        record Loaded(Fetch address, boolean isUser) implements Origin {}

        /** The contents of {@code @symbol+8} and other words that read memory. */
        record Memory(String text) implements Origin {}
    }

    static Fetch constant(long value) {
        return new Fetch(new Origin.Zero(), value);
    }

    static Fetch token(String text) {
        return new Fetch(new Origin.Token(text), 0);
    }

    static Fetch program(long address) {
        return new Fetch(new Origin.Program(), address);
    }

    Fetch plus(long more) {
        return new Fetch(origin, offset + more);
    }

    /** The word at this address. */
    Fetch loaded(boolean isUser) {
        return new Fetch(new Origin.Loaded(this, isUser), 0);
    }

    /** Turns addresses of the program into words of the kernel. */
    interface Statics {
        /**
         * How to read memory at an address as stated in the ELF: {@code "@_text+16"}.
         *
         * @throws ProbeException when nobody can know where it is
         */
        String memory(long address) throws ProbeException;

        /** The address where the program runs, as a number; null when nobody can know. */
        @org.jspecify.annotations.Nullable
        Long running(long address);
    }

    /** The words that read what stands at this address. */
    String memory(Statics statics, boolean isUser) throws ProbeException {
        String u = isUser ? "u" : "";
        return switch (origin) {
            case Origin.Zero _ -> "@0x" + Long.toHexString(offset);
            case Origin.Program _ -> statics.memory(offset);
            case Origin.Token token -> signed(u) + "(" + token.text() + ")";
            case Origin.Loaded loaded ->
                    signed(u) + "(" + loaded.address().memory(statics, loaded.isUser()) + ")";
            case Origin.Memory memory -> signed(u) + "(" + memory.text() + ")";
        };
    }

    private String signed(String u) {
        return (offset < 0 ? "-" + u + Long.toString(-offset) : "+" + u + offset);
    }

    /** The words for the number itself; empty for a sum, which the kernel cannot make. */
    String number(Statics statics) throws ProbeException {
        return switch (origin) {
            case Origin.Zero _ -> "\\" + offset;
            case Origin.Program _ -> {
                Long running = statics.running(offset);
                yield running == null ? "" : "\\0x" + Long.toHexString(running);
            }
            case Origin.Token token -> offset == 0 ? token.text() : "";
            case Origin.Loaded loaded ->
                    offset == 0 ? loaded.address().memory(statics, loaded.isUser()) : "";
            case Origin.Memory memory -> offset == 0 ? memory.text() : "";
        };
    }

    /** Words of the kernel for registers and arguments. */
    interface Names {
        /** {@code "%di"} by DWARF's number; empty for one that the kernel cannot fetch. */
        String register(int number);

        /**
         * An integer or pointer argument when a function is entered.
         *
         * @param index from 0
         * @return empty for those that the kernel cannot fetch so
         */
        String argument(int index);

        /** A register by the kernel's name, {@code "di"}; empty where it cannot be fetched. */
        String spelled(String name);

        /** Parameters of a declaration before the one that {@code $arg1} is. */
        default int hidden() {
            return 0;
        }
    }

    /**
     * What a DWARF value is here.
     *
     * @param atEntry whether the probe stands at the entry of the function
     * @throws Unfit with the reason when the kernel cannot express it
     */
    static Fetch of(Value value, Names names, boolean atEntry, int addressBytes) throws Unfit {
        return switch (value) {
            case Value.Constant c -> constant(c.value());
            case Value.Static s -> program(s.address());
            case Value.Register r -> {
                String name = names.register(r.number());
                if (name.isEmpty()) {
                    throw new Unfit("is in register " + r.number() + ", which no probe can read");
                }
                yield token(name);
            }
            case Value.Sum sum -> of(sum.base(), names, atEntry, addressBytes).plus(sum.offset());
            case Value.Load load -> {
                if (load.sizeBytes() != addressBytes) {
                    throw new Unfit("is calculated from " + load.sizeBytes() + " bytes of memory");
                }
                yield of(load.address(), names, atEntry, addressBytes).loaded(false);
            }
            case Value.Cast cast when cast.sizeBytes() >= addressBytes ->
                    of(cast.value(), names, atEntry, addressBytes);
            case Value.AtEntry(Value.Operation _) ->
                    throw new Unfit("is known only to those who called the function");
            case Value.AtEntry entry -> {
                if (!atEntry) {
                    throw new Unfit("had its value only when the function was entered");
                }
                yield of(entry.value(), names, true, addressBytes);
            }
            case Value.FrameAddress _ ->
                    throw new Unfit("lies in the frame, and nothing says where the frame is");
            case Value.ThreadLocal _ -> throw new Unfit("is in the storage of the thread");
            case Value.Cast _, Value.Operation _ ->
                    throw new Unfit("is calculated (" + shown(value, names) + ")");
        };
    }

    /** As a short formula. */
    static String shown(Value value, Names names) {
        return switch (value) {
            case Value.Constant c -> Long.toString(c.value());
            case Value.Static s -> "0x" + Long.toHexString(s.address());
            case Value.Register r -> {
                String name = names.register(r.number());
                yield name.isEmpty() ? "register " + r.number() : name;
            }
            case Value.Sum sum ->
                    shown(sum.base(), names)
                            + (sum.offset() < 0 ? " - " + -sum.offset() : " + " + sum.offset());
            case Value.Load load -> "*(" + shown(load.address(), names) + ")";
            case Value.Cast cast ->
                    "(" + 8 * cast.sizeBytes() + " bits) " + shown(cast.value(), names);
            case Value.AtEntry entry -> shown(entry.value(), names) + " at entry";
            case Value.FrameAddress _ -> "frame";
            case Value.ThreadLocal local -> "thread + " + shown(local.offset(), names);
            case Value.Operation one -> {
                Value right = one.right();
                yield right == null
                        ? one.symbol() + "(" + shown(one.left(), names) + ")"
                        : "("
                                + shown(one.left(), names)
                                + " "
                                + one.symbol()
                                + " "
                                + shown(right, names)
                                + ")";
            }
        };
    }

    /** Why a value cannot be fetched: the rest of a sentence that begins with its name. */
    static final class Unfit extends Exception {
        private static final long serialVersionUID = 1;

        Unfit(String reason) {
            super(reason);
        }

        String reason() {
            return String.valueOf(getMessage());
        }
    }
}
