package sonde.bpf.interpreter;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.ProgramCode;

/**
 * A machine that runs eBPF programs without a kernel: maps, helper functions and an environment.
 * Little-endian, as the machines that run sonde. One thread at a time.
 *
 * <p>Programs need not pass a verifier: every access is checked, and what the verifier would have
 * refused ends in a {@link ProgramFaultException} once it is run.
 */
public final class BpfMachine {
    /** Instructions of one run: the verifier of Linux looks at as many (BPF_COMPLEXITY_LIMIT). */
    public static final long DEFAULT_BUDGET = 1_000_000;

    /** Slots of the longest program: BPF_MAXINSNS of privileged ones. */
    static final int MOST_SLOTS = 1_000_000;

    private static final int STACK_BYTES = 512;
    private static final int FRAMES = 8;

    private final ProgramMemory space = new ProgramMemory();
    private final MachineEnvironment environment;
    private final Map<Integer, VirtualMap> maps = new HashMap<>();
    private final Map<MemoryRegion, VirtualMap> handles = new IdentityHashMap<>();
    private final Map<Integer, HelperFunction> helpers = new HashMap<>();
    private final Map<Integer, HelperFunction> kernelFunctions = new HashMap<>();
    private final byte[][] stacks = new byte[FRAMES][STACK_BYTES];
    private final long[] stackEnds = new long[FRAMES];
    private boolean running;

    /** A machine with the common helpers. */
    public BpfMachine(MachineEnvironment environment) {
        this.environment = environment;
        for (int i = 0; i < FRAMES; i++) {
            MemoryRegion stack = MemoryRegion.of("stack", stacks[i]);
            stackEnds[i] = space.address(stack) + STACK_BYTES;
        }
        MapFunctions.addTo(helpers);
        TaskFunctions.addTo(helpers);
        TextHelperFunctions.addTo(helpers);
    }

    /** Gives a map to programs under a number, as a descriptor or an index stands for it. */
    public BpfMachine map(int number, VirtualMap map) {
        maps.put(number, map);
        handles.put(map.handle(), map);
        return this;
    }

    /** Makes a program ready; its maps must have been given. */
    public VirtualProgram load(ProgramCode code) {
        return load(code.words());
    }

    /**
     * {@link #load(ProgramCode)} of words.
     *
     * @throws IllegalArgumentException for more than a million
     */
    public VirtualProgram load(long[] words) {
        if (words.length > MOST_SLOTS) {
            throw new IllegalArgumentException(
                    "a program has at most %d slots, not %d".formatted(MOST_SLOTS, words.length));
        }
        return new VirtualProgram(this, ProgramPreparation.of(this, words));
    }

    /** What programs ask. */
    public MachineEnvironment environment() {
        return environment;
    }

    long run(Executable executable, ProgramContext context, long budget)
            throws ProgramFaultException {
        if (running) {
            throw new IllegalStateException("a program is running on this machine");
        }
        running = true;
        try {
            space.sweep();
            return new ProgramRun(this, executable, context, budget).toEnd();
        } finally {
            context.region().release();
            MemoryRegion packet = context.packet();
            if (packet != null) {
                packet.release();
            }
            running = false;
        }
    }

    Collection<VirtualMap> maps() {
        return maps.values();
    }

    ProgramMemory space() {
        return space;
    }

    /** The end of a frame's stack, which is zero again. */
    long stackEnd(int frame) {
        Arrays.fill(stacks[frame], (byte) 0);
        return stackEnds[frame];
    }

    @Nullable HelperFunction helper(int number) {
        return helpers.get(number);
    }

    @Nullable HelperFunction kernelFunction(int btfId) {
        return kernelFunctions.get(btfId);
    }

    @Nullable VirtualMap mapAt(long address) {
        MemoryRegion region = space.find(address);
        return region == null || (int) address != 0 ? null : handles.get(region);
    }

    /** The address that stands for a map; null when none has that number. */
    @Nullable Long mapAddress(int number) {
        VirtualMap map = maps.get(number);
        return map == null ? null : (Long) space.address(map.handle());
    }

    /** The address of the value of an array with one entry; null for what is none. */
    @Nullable Long valueAddress(int number) {
        return maps.get(number) instanceof VirtualArray array && array.maxEntries() == 1
                ? (Long) space.address(array.value(0, 0))
                : null;
    }
}
