package sonde.probe.dynamic;

import sonde.probe.dynamic.FetchArgument.StaticAddresses;
import sonde.symbol.ctype.NamedTypes;

/** What an expression can name at the place of a probe. */
interface ExpressionScope {
    /**
     * A variable.
     *
     * @param text of the whole expression, for the message
     * @throws ProbeException when there is none, or it cannot be read here
     */
    ProbeOperand variable(String text, int at, String name) throws ProbeException;

    /**
     * {@code retval}, {@code arg1}, {@code comm}, {@code stack}, {@code stack0}.
     *
     * @throws ProbeException when there is none here
     */
    ProbeOperand special(String text, int at, String name) throws ProbeException;

    /**
     * Words of the kernel with the registers in them as they can be fetched here.
     *
     * @param words {@code %di}, {@code +8(%sp)}
     * @throws ProbeException when one cannot
     */
    default String words(String text, int at, String words) throws ProbeException {
        return words;
    }

    /** Types by name. */
    NamedTypes types();

    /** Addresses of the program. */
    StaticAddresses statics();

    /** Bytes of a pointer. */
    int addressBytes();

    /** Whether strings of user pointers are read from the process ({@code ustring}). */
    boolean isKernel();
}
