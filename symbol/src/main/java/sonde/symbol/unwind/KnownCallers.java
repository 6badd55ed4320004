package sonde.symbol.unwind;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.binary.unwind.FrameStepper;
import sonde.binary.unwind.RegisterValues;
import sonde.binary.unwind.UnwindMachine;
import sonde.binary.unwind.UnwindMemory;

/**
 * Callers that were followed before. A stack above a frame is the same again when the code mapped,
 * the frame's program counter and stack pointer, and all words that led from caller to caller are:
 * comparing those words is much less than applying rules. Stands between the unwinder and the
 * memory, to see which words it reads.
 */
final class KnownCallers implements UnwindMemory {
    private static final int SLOTS = 1 << 12;
    private static final int MOST_READS = 1 << 13;

    /** Words in all pieces; beyond, everything is forgotten. */
    private static final int MOST_WORDS = 1 << 20;

    /**
     * Pieces begin at the frames 0, 1, 2, 4, 8…, so that stacks alike only further up share them.
     */
    private static final int MOST_MARKS = 16;

    /** In the first frame the program counter is where the code ran, in others where it goes on. */
    private static final int FIRST = 0;

    private static final UnwindMemory NOTHING =
            new UnwindMemory() {
                @Override
                public boolean has(long address, int sizeBytes) {
                    return false;
                }

                @Override
                public long read(long address, int sizeBytes) {
                    return 0;
                }
            };

    /** What is above a frame, up to that of the next piece. */
    private record CallerRun(
            long stamp,
            boolean first,
            long address,
            long pointer,
            boolean needsFrame,
            long frame,
            long[] places,
            long[] values,
            long[] callers,
            @Nullable CallerRun next) {}

    private final UnwindMachine machine;
    private final FrameStepper stepper;
    private final @Nullable CallerRun[] table = new CallerRun[SLOTS];
    private int words;
    private UnwindMemory memory = NOTHING;
    private long stamp;
    private boolean recording;
    private long askedFirst;

    // What was read, and for which column (-1 for none).
    private final long[] places = new long[MOST_READS];
    private final long[] values = new long[MOST_READS];
    private final byte[] columns = new byte[MOST_READS];
    private int reads;

    private final int[] markFrame = new int[MOST_MARKS];
    private final int[] markRead = new int[MOST_MARKS];
    private final long[] markPointer = new long[MOST_MARKS];
    private final long[] markFramePointer = new long[MOST_MARKS];
    private int marks;

    /**
     * @param stepper that tells which registers rules ask for
     */
    KnownCallers(UnwindMachine machine, FrameStepper stepper) {
        this.machine = machine;
        this.stepper = stepper;
    }

    /** Begins a stack. */
    void begin(UnwindMemory of, long mapped) {
        memory = of;
        stamp = mapped;
        reads = 0;
        marks = 0;
        recording = true;
        askedFirst = 0;
        stepper.forgetAsked();
    }

    @Override
    public boolean has(long address, int sizeBytes) {
        return memory.has(address, sizeBytes);
    }

    @Override
    public long read(long address, int sizeBytes) {
        return read(address, sizeBytes, -1);
    }

    @Override
    public long read(long address, int sizeBytes, int column) {
        long value = memory.read(address, sizeBytes);
        if (reads == MOST_READS || sizeBytes != machine.wordBytes()) {
            recording = false;
        } else {
            places[reads] = address;
            values[reads] = value;
            columns[reads++] = (byte) column;
        }
        return value;
    }

    /**
     * Completes a chain at a frame whose callers are known.
     *
     * @param count frames in the chain; the last one is that of {@code frame}
     * @return how many there are then; {@code count} when they are not known
     */
    int complete(RegisterValues frame, long[] chain, int count) {
        if (!frame.has(machine.stackPointer()) || !frame.has(machine.framePointer())) {
            recording = false;
            return count;
        }
        long pointer = frame.get(machine.stackPointer());
        long framePointer = frame.get(machine.framePointer());
        int index = count - 1;
        if (index == 1) {
            askedFirst = stepper.asked();
            stepper.forgetAsked();
        }
        if (index > FIRST) {
            CallerRun piece = find(false, chain[index], pointer, framePointer);
            int size = piece == null ? 0 : append(piece, chain, count);
            if (piece != null && size > 0) {
                remember(chain, count, piece);
                return size;
            }
        }
        if ((index & index - 1) == 0 && marks < MOST_MARKS) {
            markFrame[marks] = index;
            markRead[marks] = reads;
            markPointer[marks] = pointer;
            markFramePointer[marks++] = framePointer;
        }
        return count;
    }

    /** A whole chain; 0 when it is not known. */
    int whole(long address, long pointer, long framePointer, long[] chain) {
        CallerRun piece = find(true, address, pointer, framePointer);
        if (piece == null) {
            return 0;
        }
        chain[0] = address;
        return append(piece, chain, 1);
    }

    private @Nullable CallerRun find(boolean first, long address, long pointer, long framePointer) {
        CallerRun piece = table[slot(address, pointer)];
        return piece != null
                        && piece.stamp == stamp
                        && piece.first == first
                        && piece.address == address
                        && piece.pointer == pointer
                        && (!piece.needsFrame || piece.frame == framePointer)
                ? piece
                : null;
    }

    private int append(CallerRun first, long[] chain, int count) {
        int size = count;
        int bytes = machine.wordBytes();
        for (CallerRun piece = first; piece != null; piece = piece.next) {
            for (int i = 0; i < piece.places.length; i++) {
                long place = piece.places[i];
                if (!memory.has(place, bytes) || memory.read(place, bytes) != piece.values[i]) {
                    return 0;
                }
            }
            int more = piece.callers.length;
            if (more > chain.length - size) {
                return 0;
            }
            System.arraycopy(piece.callers, 0, chain, size, more);
            size += more;
        }
        return size;
    }

    /** The chain reached its end. */
    void remember(long[] chain, int count) {
        remember(chain, count, null);
    }

    private void remember(long[] chain, int count, @Nullable CallerRun above) {
        int frame = machine.framePointer();
        long plain = 1L << machine.programCounter() | 1L << machine.stackPointer();
        long asked = stepper.asked() & ~plain;
        if (!recording || (asked & ~(1L << frame)) != 0) {
            return;
        }
        boolean needsFrame = asked != 0 || above != null && above.needsFrame;
        CallerRun next = above;
        int lastRead = reads;
        int lastFrame = count - 1;
        for (int i = marks - 1; i >= 0; i--) {
            if (markFrame[i] == FIRST) {
                long other = askedFirst & ~plain;
                needsFrame |= other != 0;
                if ((other & ~(1L << frame)) != 0) {
                    break;
                }
            }
            long needed = plain | 1L << machine.returnColumn() | (needsFrame ? 1L << frame : 0);
            int end = lead(markRead[i], lastRead, needed);
            next =
                    new CallerRun(
                            stamp,
                            markFrame[i] == FIRST,
                            chain[markFrame[i]],
                            markPointer[i],
                            needsFrame,
                            markFramePointer[i],
                            Arrays.copyOfRange(places, markRead[i], end),
                            Arrays.copyOfRange(values, markRead[i], end),
                            Arrays.copyOfRange(chain, markFrame[i] + 1, lastFrame + 1),
                            next);
            keep(next);
            lastRead = markRead[i];
            lastFrame = markFrame[i];
        }
        recording = false;
    }

    /** Moves the reads that matter to the front of theirs; where they end. */
    private int lead(int from, int to, long needed) {
        int end = from;
        for (int i = from; i < to; i++) {
            if (columns[i] < 0 || (needed >>> columns[i] & 1) != 0) {
                places[end] = places[i];
                values[end++] = values[i];
            }
        }
        return end;
    }

    private void keep(CallerRun piece) {
        words += 2 * piece.places.length + piece.callers.length + 8;
        if (words > MOST_WORDS) {
            Arrays.fill(table, null);
            words = 0;
        }
        table[slot(piece.address, piece.pointer)] = piece;
    }

    private static int slot(long address, long pointer) {
        return (int) ((address * 31 + pointer) * 0x9E3779B97F4A7C15L >>> 40) & SLOTS - 1;
    }
}
