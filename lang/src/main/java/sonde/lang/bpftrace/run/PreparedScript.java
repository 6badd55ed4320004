package sonde.lang.bpftrace.run;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.object.FunctionLibrary;
import sonde.lang.bpftrace.expand.ScriptConfig;
import sonde.lang.bpftrace.lower.ScriptUnit;
import sonde.lang.source.SourceSpan;

/** A script that can be loaded: compiled now, or read from a file. */
public interface PreparedScript {
    /** Its settings. */
    ScriptConfig configuration();

    /** What its programs share. */
    ScriptUnit unit();

    /**
     * Its programs in the order of the script; of each list the first that the kernel takes is
     * loaded.
     */
    List<? extends List<? extends PreparedProgram>> ranked();

    /** A place of the script, and the calls of the macros that it lies in. */
    List<SourceSpan> places(SourceSpan span);

    /** The functions in C that it imports; null for none. */
    default @Nullable FunctionLibrary library() {
        return null;
    }

    /** BTF id of a function of the kernel; 0 for none. */
    int kernelFunction(String name);
}
