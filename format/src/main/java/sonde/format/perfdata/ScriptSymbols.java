package sonde.format.perfdata;

import sonde.format.ftrace.TextBuffer;

/** Names code for {@link ScriptText}. */
public interface ScriptSymbols {
    /** Addresses alone. */
    ScriptSymbols NONE =
            new ScriptSymbols() {
                @Override
                public void append(TextBuffer out, int pid, long address, boolean chain) {
                    int start = out.size();
                    out.hex(address, 1).pad(start, 16, false).put(" [unknown] ([unknown])");
                }

                @Override
                public Code code(int pid, long address) {
                    return Code.UNKNOWN;
                }

                @Override
                public boolean changes(long address) {
                    return false;
                }
            };

    /**
     * A place in code.
     *
     * @param shown the address, or the place in the file where call chains show that
     * @param name of the function, or what stands for it
     * @param offset in the function; negative when it has no name
     * @param file where the code is
     */
    record Code(long shown, String name, long offset, String file) {
        /** Of no known function, in no known file. */
        static final Code UNKNOWN = new Code(0, "[unknown]", -1, "[unknown]");
    }

    /** What is at an address in a process at the time of the latest row. */
    Code code(int pid, long address);

    /**
     * Appends {@code "%16x symbol+0xoffset (file)"} for an address in a process at the time of the
     * latest row.
     *
     * @param chain whether it stands in a call chain, where perf shows offsets in files in place of
     *     user addresses
     */
    void append(TextBuffer out, int pid, long address, boolean chain);

    /**
     * Whether the name of an address depends on the rows before; asked for and appended by one
     * thread then, by several otherwise.
     */
    boolean changes(long address);
}
