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
                public boolean changes(long address) {
                    return false;
                }
            };

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
