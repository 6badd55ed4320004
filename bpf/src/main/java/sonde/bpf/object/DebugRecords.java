package sonde.bpf.object;

import org.jspecify.annotations.Nullable;
import sonde.bpf.ProgramSpec;

/** struct bpf_func_info and bpf_line_info of a program. */
record DebugRecords(byte[] functions, byte[] lines) {
    private static final int FUNCTION_BYTES = 8;
    private static final int LINE_BYTES = 16;

    /** Null when a function of the program has no type. */
    static @Nullable DebugRecords of(ProgramAssembly assembly, ObjectBtf types) {
        byte[] functions = assembly.functionRecords();
        return functions.length == 0
                ? null
                : new DebugRecords(functions, assembly.lineRecords(types));
    }

    /** With the types that they name. */
    ProgramSpec.Debug debug(int btfFd, boolean needed) {
        return new ProgramSpec.Debug(btfFd, functions, FUNCTION_BYTES, lines, LINE_BYTES, needed);
    }
}
