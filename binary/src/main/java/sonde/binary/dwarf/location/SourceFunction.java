package sonde.binary.dwarf.location;

import java.util.List;
import sonde.binary.MalformedInputException;

/**
 * A function of the source, with all its code.
 *
 * @param name as in the source, without name spaces
 * @param scope the name spaces and classes around it, as {@code shop::}; empty for none
 * @param declared the entry that says where it is written
 * @param copies the function's own code first; empty when it is declared and not defined
 */
public record SourceFunction(
        String name, String scope, DebugEntry declared, List<FunctionCopy> copies) {
    /** The line where it begins, 0 when it is not said. */
    public int line() {
        return (int) declared.constant(DwarfAttribute.DECL_LINE, 0);
    }

    /** The same with some of its copies. */
    public SourceFunction with(List<FunctionCopy> some) {
        return new SourceFunction(name, scope, declared, some);
    }

    /**
     * The source file, absolute where the compiler's folder is known; empty when it is not said.
     */
    public String file(LineRows rows) {
        return rows.fileName(declared.constant(DwarfAttribute.DECL_FILE, -1));
    }

    /** The unit whose line table knows the file. */
    public EntryUnit unit() {
        return declared.unit();
    }

    /** The symbol; empty when it is the name. */
    public String linkageName() throws MalformedInputException {
        return copies.isEmpty() ? declared.linkageName() : copies.getFirst().entry().linkageName();
    }
}
