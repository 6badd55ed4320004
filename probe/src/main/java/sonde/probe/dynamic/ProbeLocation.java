package sonde.probe.dynamic;

import org.jspecify.annotations.Nullable;
import sonde.binary.dwarf.location.SourceScope;

/**
 * An address that a probe can stand at.
 *
 * @param address as stated in the file; 0 for a kernel function known by its name alone
 * @param function that the source calls it; empty when it is not known
 * @param symbol that has the address; empty when there is none
 * @param offset from the symbol
 * @param scope what can be seen there; null without debugging information
 * @param file of the source; empty when it is not known
 * @param line of the source, 0 when it is not known
 * @param functionLine where the function begins, 0 when it is not known
 * @param isEntry whether the function is entered there
 * @param isInlined whether it is a copy inside another function
 * @param note what is to be said about the choice; empty for nothing
 */
public record ProbeLocation(
        long address,
        String function,
        String symbol,
        long offset,
        @Nullable SourceScope scope,
        String file,
        int line,
        int functionLine,
        boolean isEntry,
        boolean isReturn,
        boolean isInlined,
        String note) {
    ProbeLocation noted(String more) {
        return new ProbeLocation(
                address,
                function,
                symbol,
                offset,
                scope,
                file,
                line,
                functionLine,
                isEntry,
                isReturn,
                isInlined,
                note.isEmpty() ? more : note + "; " + more);
    }

    ProbeLocation withoutLine() {
        return new ProbeLocation(
                address,
                function,
                symbol,
                offset,
                scope,
                file,
                0,
                functionLine,
                isEntry,
                isReturn,
                isInlined,
                note);
    }

    /** By another name of its function. */
    ProbeLocation called(String name) {
        return new ProbeLocation(
                address,
                name,
                symbol,
                offset,
                scope,
                file,
                line,
                functionLine,
                isEntry,
                isReturn,
                isInlined,
                note);
    }

    /** {@code function:3}, {@code function%return}, {@code function+8}. */
    public String place() {
        if (isReturn) {
            return function + "%return";
        }
        boolean inside = functionLine > 0 && line > functionLine;
        if (inside) {
            return function + ":" + (line - functionLine);
        }
        return isEntry || isInlined || offset == 0 ? function : function + "+" + offset;
    }

    /** {@code symbol+8}, or the address where there is no symbol. */
    public String code() {
        return symbol.isEmpty()
                ? "0x" + Long.toHexString(address)
                : symbol + (offset == 0 ? "" : "+" + offset);
    }
}
