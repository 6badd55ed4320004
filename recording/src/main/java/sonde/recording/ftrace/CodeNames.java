package sonde.recording.ftrace;

import java.util.Set;
import sonde.recording.ftrace.ListedFields.ListedField;

/** Names code for listings of samples. */
public interface CodeNames {
    /** Addresses alone. */
    CodeNames NONE =
            new CodeNames() {
                @Override
                public void append(TextBuffer out, int pid, long address, boolean chain) {
                    int start = out.size();
                    out.hex(address, 1).pad(start, 16, false).put(" [unknown] ([unknown])");
                }

                @Override
                public ListedCode code(int pid, long address) {
                    return ListedCode.UNKNOWN;
                }

                @Override
                public String line(int pid, long address) {
                    return "";
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
    record ListedCode(long shown, String name, long offset, String file) {
        /** Code in no known function and no known file. */
        public static final ListedCode UNKNOWN = new ListedCode(0, "[unknown]", -1, "[unknown]");

        /** Appends function and file as far as they are shown, a blank before each. */
        public void append(TextBuffer out, Set<ListedField> shown) {
            if (shown.contains(ListedField.SYM)) {
                out.put(' ').put(name);
                if (shown.contains(ListedField.SYMOFF) && offset >= 0) {
                    out.put("+0x").hex(offset, 1);
                }
            }
            if (shown.contains(ListedField.DSO)) {
                out.put(" (").put(file).put(')');
            }
        }
    }

    /**
     * The source line of an instruction, {@code "file.c:12"}, that of the innermost call that was
     * inlined there; empty when it is not known or nobody asked for lines.
     */
    String line(int pid, long address);

    /**
     * Appends what stands for an address of a sample or call chain: the address, and function, file
     * and on a line of its own the source line as far as they are shown.
     *
     * @param chain whether it stands in a call chain
     * @param call the instruction whose line is meant: of a caller that of its call
     */
    default void append(
            TextBuffer out,
            int pid,
            long address,
            boolean chain,
            long call,
            Set<ListedField> shown) {
        int start = out.size();
        ListedCode code = code(pid, address);
        boolean known = chain && !code.equals(ListedCode.UNKNOWN);
        out.hex(known ? code.shown() : address, 1).pad(start, 16, false);
        code.append(out, shown);
        if (shown.contains(ListedField.SRCLINE)) {
            String line = line(pid, call);
            out.put(line.isEmpty() ? "" : "\n  ").put(line);
        }
    }

    /** What is at an address in a process at the time of the latest row. */
    ListedCode code(int pid, long address);

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
