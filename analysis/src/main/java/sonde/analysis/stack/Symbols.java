package sonde.analysis.stack;

import java.util.List;
import sonde.event.result.Frame;

/**
 * Addresses to frames. A process has one address space after the other (execve replaces it), so
 * chains name the space they were seen in and can be resolved when everything was read.
 */
public interface Symbols {
    /** The number of the address space a process has now. */
    int space(int pid);

    /**
     * The functions at an address, caller first: more than one where calls were inlined, never
     * none.
     *
     * @param space as {@link #space} gave it; ignored for the kernel
     * @param isReturn whether the address is where a call returns to, so the call lies before it
     */
    List<Frame> frames(int space, long address, boolean kernel, boolean isReturn);

    /** Resolves nothing: frames are named by their addresses. */
    static Symbols none() {
        return new Symbols() {
            @Override
            public int space(int pid) {
                return pid;
            }

            @Override
            public List<Frame> frames(int space, long address, boolean kernel, boolean isReturn) {
                Frame.Kind kind = kernel ? Frame.Kind.KERNEL : Frame.Kind.USER;
                String name = "0x" + Long.toHexString(address);
                return List.of(new Frame(name, kernel ? "[kernel]" : "", kind));
            }
        };
    }
}
