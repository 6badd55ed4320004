package sonde.probe.dynamic;

import sonde.binary.dwarf.location.SymbolicValue;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.binary.dwarf.location.SymbolicValue.MemoryValue;
import sonde.binary.dwarf.location.SymbolicValue.OperationValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.dwarf.location.SymbolicValue.StaticAddress;
import sonde.binary.dwarf.location.SymbolicValue.SumValue;
import sonde.binary.dwarf.location.SymbolicValue.TruncatedValue;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.LoadedOrigin;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.MemoryOrigin;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.ProgramOrigin;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.TokenOrigin;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.ZeroOrigin;

/**
 * An address or number as the kernel's fetch arguments can express it
 * (Documentation/trace/kprobetrace.rst): something known, and a constant added to it. The kernel
 * reads what stands at such an address; it cannot hand out the sum itself.
 */
record FetchArgument(FetchOrigin origin, long offset) {
    /** What the constant is added to. */
    sealed interface FetchOrigin {
        /** Nothing: the constant is all. */
        record ZeroOrigin() implements FetchOrigin {}

        /** Where the program is loaded; the constant is an address as stated in the ELF. */
        record ProgramOrigin() implements FetchOrigin {}

        /** A word of the kernel's: {@code %di}, {@code $retval}, {@code $stack}. */
        record TokenOrigin(String text) implements FetchOrigin {}

        /** What stands in memory there. */
        record LoadedOrigin(FetchArgument address, boolean isUser) implements FetchOrigin {}

        /** The contents of {@code @symbol+8} and other words that read memory. */
        record MemoryOrigin(String text) implements FetchOrigin {}
    }

    static FetchArgument constant(long value) {
        return new FetchArgument(new ZeroOrigin(), value);
    }

    static FetchArgument token(String text) {
        return new FetchArgument(new TokenOrigin(text), 0);
    }

    static FetchArgument program(long address) {
        return new FetchArgument(new ProgramOrigin(), address);
    }

    FetchArgument plus(long more) {
        return new FetchArgument(origin, offset + more);
    }

    /** The word at this address. */
    FetchArgument loaded(boolean isUser) {
        return new FetchArgument(new LoadedOrigin(this, isUser), 0);
    }

    /** Turns addresses of the program into words of the kernel. */
    interface StaticAddresses {
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
    String memory(StaticAddresses statics, boolean isUser) throws ProbeException {
        String u = isUser ? "u" : "";
        return switch (origin) {
            case ZeroOrigin _ -> "@0x" + Long.toHexString(offset);
            case ProgramOrigin _ -> statics.memory(offset);
            case TokenOrigin token -> signed(u) + "(" + token.text() + ")";
            case LoadedOrigin loaded ->
                    signed(u) + "(" + loaded.address().memory(statics, loaded.isUser()) + ")";
            case MemoryOrigin memory -> signed(u) + "(" + memory.text() + ")";
        };
    }

    private String signed(String u) {
        return (offset < 0 ? "-" + u + Long.toString(-offset) : "+" + u + offset);
    }

    /** The words for the number itself; empty for a sum, which the kernel cannot make. */
    String number(StaticAddresses statics) throws ProbeException {
        return switch (origin) {
            case ZeroOrigin _ -> "\\" + offset;
            case ProgramOrigin _ -> {
                Long running = statics.running(offset);
                yield running == null ? "" : "\\0x" + Long.toHexString(running);
            }
            case TokenOrigin token -> offset == 0 ? token.text() : "";
            case LoadedOrigin loaded ->
                    offset == 0 ? loaded.address().memory(statics, loaded.isUser()) : "";
            case MemoryOrigin memory -> offset == 0 ? memory.text() : "";
        };
    }

    /** Words of the kernel for registers and arguments. */
    interface FetchNames {
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

        /** Why there is no word for a register. */
        default String unknown(String name) {
            return "register " + name + " is not known to this kind of probe";
        }

        /** Parameters of a declaration before the one that {@code $arg1} is. */
        default int hidden() {
            return 0;
        }
    }

    /**
     * What a DWARF value is here.
     *
     * @param atEntry whether the probe stands at the entry of the function
     * @throws FetchException with the reason when the kernel cannot express it
     */
    static FetchArgument of(
            SymbolicValue value, FetchNames names, boolean atEntry, int addressBytes)
            throws FetchException {
        return switch (value) {
            case ConstantValue c -> constant(c.value());
            case StaticAddress s -> program(s.address());
            case RegisterValue r -> {
                String name = names.register(r.number());
                if (name.isEmpty()) {
                    throw new FetchException(
                            "is in register " + r.number() + ", which no probe can read");
                }
                yield token(name);
            }
            case SumValue sum -> of(sum.base(), names, atEntry, addressBytes).plus(sum.offset());
            case MemoryValue load -> {
                if (load.sizeBytes() != addressBytes) {
                    throw new FetchException(
                            "is calculated from " + load.sizeBytes() + " bytes of memory");
                }
                yield of(load.address(), names, atEntry, addressBytes).loaded(false);
            }
            case TruncatedValue cast when cast.sizeBytes() >= addressBytes ->
                    of(cast.value(), names, atEntry, addressBytes);
            case SymbolicValue.AtEntry(OperationValue _) ->
                    throw new FetchException("is known only to those who called the function");
            case SymbolicValue.AtEntry entry -> {
                if (!atEntry) {
                    throw new FetchException("had its value only when the function was entered");
                }
                yield of(entry.value(), names, true, addressBytes);
            }
            case SymbolicValue.FrameAddress _ ->
                    throw new FetchException(
                            "lies in the frame, and nothing says where the frame is");
            case SymbolicValue.ThreadLocal _ ->
                    throw new FetchException("is in the storage of the thread");
            case TruncatedValue _, OperationValue _ ->
                    throw new FetchException("is calculated (" + shown(value, names) + ")");
        };
    }

    /** As a short formula. */
    static String shown(SymbolicValue value, FetchNames names) {
        return switch (value) {
            case ConstantValue c -> Long.toString(c.value());
            case StaticAddress s -> "0x" + Long.toHexString(s.address());
            case RegisterValue r -> {
                String name = names.register(r.number());
                yield name.isEmpty() ? "register " + r.number() : name;
            }
            case SumValue sum ->
                    shown(sum.base(), names)
                            + (sum.offset() < 0 ? " - " + -sum.offset() : " + " + sum.offset());
            case MemoryValue load -> "*(" + shown(load.address(), names) + ")";
            case TruncatedValue cast ->
                    "(" + 8 * cast.sizeBytes() + " bits) " + shown(cast.value(), names);
            case SymbolicValue.AtEntry entry -> shown(entry.value(), names) + " at entry";
            case SymbolicValue.FrameAddress _ -> "frame";
            case SymbolicValue.ThreadLocal local -> "thread + " + shown(local.offset(), names);
            case OperationValue one -> {
                SymbolicValue right = one.right();
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
    static final class FetchException extends Exception {
        private static final long serialVersionUID = 1;

        FetchException(String reason) {
            super(reason);
        }

        String reason() {
            return String.valueOf(getMessage());
        }
    }
}
