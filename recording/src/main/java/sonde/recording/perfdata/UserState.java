package sonde.recording.perfdata;

import sonde.recording.perfdata.SampleLayout.SampleOffsets;

/** Registers and stack of user mode as a sample has them; valid during one call. */
public final class UserState {
    /** include/uapi/linux/perf_event.h, enum perf_sample_regs_abi. */
    private static final long PERF_SAMPLE_REGS_ABI_32 = 1;

    private PerfView view;
    private SampleOffsets places = new SampleOffsets();
    private long mask;
    private int pid;

    UserState(PerfView view) {
        this.view = view;
    }

    UserState at(PerfView from, SampleOffsets found, long registers, int process) {
        view = from;
        places = found;
        mask = registers;
        pid = process;
        return this;
    }

    /** The process. */
    public int pid() {
        return pid;
    }

    /** Whether the thread ran in the 32-bit mode of its machine. */
    public boolean isNarrow() {
        return view.u64(places.userRegs) == PERF_SAMPLE_REGS_ABI_32;
    }

    /** A bit for each register that there is, by perf's numbers. */
    public long registers() {
        return mask;
    }

    /** The value of the register whose bit has {@code before} others below it. */
    public long register(int before) {
        return view.u64(places.userRegs + 8 + 8L * before);
    }

    /** Bytes of stack that were copied, from the stack pointer on. */
    public int stackBytes() {
        return places.userStackBytes;
    }

    /** The unsigned number of 1, 2, 4 or 8 bytes at an offset of the copy, inside of it. */
    public long stack(int offset, int sizeBytes) {
        long at = places.userStack + offset;
        return switch (sizeBytes) {
            case 8 -> view.u64(at);
            case 4 -> view.u32(at) & 0xffff_ffffL;
            case 2 -> view.u16(at);
            default -> view.u8(at);
        };
    }
}
