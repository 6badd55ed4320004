package sonde.bpf.interpreter;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.interpreter.ProgramFaultException.Kind;
import sonde.bpf.interpreter.ProgramMemory.AccessException;

/** One call of a {@link HelperFunction}: its arguments and what it may reach. */
public final class HelperCall {
    /** No helper takes more memory than this: KMALLOC_MAX_SIZE. */
    private static final int MOST_BYTES = 4 << 20;

    private final ProgramRun run;
    private final long[] registers;
    private final int slot;

    HelperCall(ProgramRun run, long[] registers, int slot) {
        this.run = run;
        this.registers = registers;
        this.slot = slot;
    }

    /** An argument, 1 to 5. */
    public long argument(int number) {
        return registers[number];
    }

    /** The machine that runs the program. */
    public BpfMachine machine() {
        return run.machine;
    }

    /** What the machine answers. */
    public MachineEnvironment environment() {
        return run.machine.environment();
    }

    /** A size given as an argument. */
    public int size(int number) throws ProgramFaultException {
        long size = registers[number] & 0xffffffffL;
        if (size > MOST_BYTES) {
            throw fault("r%d is a size of %d bytes".formatted(number, size));
        }
        run.charge((int) size);
        return (int) size;
    }

    /** A copy of the bytes that an argument points to. */
    public byte[] bytes(int number, int size) throws ProgramFaultException {
        try {
            return run.space.read(registers[number], size);
        } catch (AccessException e) {
            throw memory(number, e);
        }
    }

    /** Writes bytes to where an argument points. */
    public void write(int number, byte[] bytes) throws ProgramFaultException {
        try {
            run.space.write(registers[number], bytes);
        } catch (AccessException e) {
            throw memory(number, e);
        }
    }

    /** The text that an argument points to, ended by a NUL or by its size. */
    public String text(int number, int most) throws ProgramFaultException {
        StringBuilder text = new StringBuilder();
        try {
            for (int i = 0; i < most; i++) {
                int c = (int) run.space.load8(registers[number] + i);
                if (c == 0) {
                    break;
                }
                text.append((char) c);
            }
        } catch (AccessException e) {
            throw memory(number, e);
        }
        return text.toString();
    }

    /** The map whose address an argument is. */
    public VirtualMap map(int number) throws ProgramFaultException {
        VirtualMap map = run.machine.mapAt(registers[number]);
        if (map == null) {
            throw fault("r%d is not a map".formatted(number));
        }
        return map;
    }

    /** The program's own memory at an address, or the environment's; false when there is none. */
    boolean read(long address, byte[] into, boolean user) {
        if (run.space.find(address) == null) {
            return environment().read(address, into, user);
        }
        try {
            byte[] read = run.space.read(address, into.length);
            System.arraycopy(read, 0, into, 0, read.length);
            return true;
        } catch (AccessException e) {
            return false;
        }
    }

    @Nullable MemoryRegion packet() {
        return run.packet();
    }

    /** Calls a subprogram that was given as an argument. */
    public long callBack(long function, long a1, long a2, long a3, long a4)
            throws ProgramFaultException {
        return run.callBack(function, a1, a2, a3, a4);
    }

    /** Lets another program take over when this call returns; false after too many of these. */
    boolean become(Executable program) {
        return run.become(program);
    }

    /** An argument that the function cannot take; the verifier would have seen it. */
    public ProgramFaultException fault(String reason) {
        return run.fault(Kind.FUNCTION, slot, null, reason);
    }

    private ProgramFaultException memory(int number, AccessException e) {
        BpfRegister register = BpfRegister.of(number);
        return run.fault(Kind.MEMORY, slot, register, String.valueOf(e.getMessage()));
    }
}
