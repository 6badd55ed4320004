package sonde.analysis.stack;

import java.util.List;
import sonde.event.FrameNames;
import sonde.event.result.Frame;

/**
 * From addresses to frames in two steps, so that the pass over the events stays cheap: while rows
 * come an address becomes a location, which means the same code whatever happens to the process
 * later; at the end each distinct location is named once.
 */
public interface FrameSymbols {
    /** The code at an address of a process, as it is mapped now; kernel addresses are negative. */
    long location(int pid, long address);

    /** Whether code may lie at a user address of a process, as far as its mappings are known. */
    boolean isCode(int pid, long address);

    /** The function a location lies in. */
    Frame frame(long location);

    /** What is at a location, callee first: calls that were inlined, and the function. */
    default List<Frame> frames(long location) {
        return List.of(frame(location));
    }

    /** Says which locations will be asked for: they are looked up together. */
    default void learn(long[] locations) {}

    /** Whether a whole user stack may end with this frame: a process's or thread's first. */
    boolean isRoot(Frame frame);

    /** Whether entries of chains are names, not addresses: then none is a return address. */
    default boolean isNamed() {
        return false;
    }

    /** Frames as the recording itself names the entries of its chains. */
    static FrameSymbols named(FrameNames names) {
        return new FrameSymbols() {
            @Override
            public long location(int pid, long entry) {
                return entry;
            }

            @Override
            public boolean isCode(int pid, long entry) {
                return true;
            }

            @Override
            public Frame frame(long location) {
                return names.frame(location);
            }

            @Override
            public boolean isRoot(Frame frame) {
                return true;
            }

            @Override
            public boolean isNamed() {
                return true;
            }
        };
    }

    /** Names nothing: frames are addresses. */
    static FrameSymbols none() {
        return new FrameSymbols() {
            @Override
            public long location(int pid, long address) {
                return address;
            }

            @Override
            public boolean isCode(int pid, long address) {
                return true;
            }

            @Override
            public Frame frame(long location) {
                boolean kernel = location < 0;
                Frame.Kind kind = kernel ? Frame.Kind.KERNEL : Frame.Kind.USER;
                String name = "0x" + Long.toHexString(location);
                return new Frame(name, kernel ? "[kernel]" : "", kind);
            }

            @Override
            public boolean isRoot(Frame frame) {
                return false;
            }
        };
    }
}
