package sonde.recording.syscall;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A line of the table.
 *
 * @param number of the call; -1 where this architecture lacks it
 * @param arguments in their order; not more than six
 * @param result null for a plain number
 * @param chooser argument whose value chooses another line; -1 for none
 * @param choices those lines
 */
record CallShape(
        String name,
        int number,
        List<CallArgument> arguments,
        @Nullable ArgumentShape result,
        int chooser,
        Map<Long, CallShape> choices) {
    /** When an argument is not shown. */
    enum ShownWhen {
        ALWAYS,
        /** When the flags before it make a file. */
        CREAT,
        /** When mremap's flags name an address. */
        FIXED,
        /** When the mode before it is that of a device. */
        DEVICE,
    }

    /** An argument with its name. */
    record CallArgument(String name, ArgumentShape shape, ShownWhen when) {
        /** Whether its text is known only when the call ends. */
        boolean isOut() {
            return switch (shape) {
                case ArgumentShape.PointerTo pointer -> pointer.out();
                case ArgumentShape.PlainNumber(ArgumentShape.NumberForm form) ->
                        form == ArgumentShape.NumberForm.CAPDATA;
                default -> false;
            };
        }
    }

    /** How many arguments the call has, whatever the one that chooses says. */
    int mostArguments() {
        return choices.values().stream()
                .mapToInt(one -> one.arguments().size())
                .reduce(arguments.size(), Math::max);
    }

    /** The line for these arguments. */
    CallShape chosen(long[] values) {
        if (chooser < 0) {
            return this;
        }
        CallShape found = choices.get(values[chooser] & 0xffffffffL);
        return found == null ? this : found;
    }
}
