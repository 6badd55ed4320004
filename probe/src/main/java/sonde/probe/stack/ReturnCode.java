package sonde.probe.stack;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;
import static sonde.probe.stack.UnwindScratch.IP;
import static sonde.probe.stack.UnwindScratch.NODE;
import static sonde.probe.stack.UnwindScratch.NODE_BYTES;
import static sonde.probe.stack.UnwindScratch.TRAMPOLINE;

import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.probe.stack.KernelFields.ReturnFields;

/**
 * The return addresses that the kernel replaced by its trampoline, because a uretprobe waits for
 * the function's return; the kernel keeps them in a list (kernel/events/uprobes.c).
 */
final class ReturnCode {
    private static final int MOST_DEPTH = 64; // MAX_URETPROBE_DEPTH

    private final KernelFields kernel;
    private final Label find;

    /**
     * @param find where {@link #find} is
     */
    ReturnCode(KernelFields kernel, Label find) {
        this.kernel = kernel;
        this.find = find;
    }

    /** Whether this kernel has uretprobes. */
    boolean isWanted() {
        return kernel.returns() != null;
    }

    /** R7 = the task, typed. */
    void begin(CodeBuilder code) {
        ReturnFields fields = kernel.returns();
        if (fields == null) {
            return;
        }
        Label none = new Label("no uretprobes");
        code.step("pending returns")
                .store(Width.U64, R6, TRAMPOLINE, 0)
                .store(Width.U64, R6, UnwindScratch.INSTANCE, 0)
                .load(Width.U64, R1, R7, kernel.mm())
                .ifZero(R1, none)
                .load(Width.U64, R3, R1, fields.area())
                .ifZero(R3, none)
                .load(Width.U64, R1, R3, fields.address())
                .store(Width.U64, R6, TRAMPOLINE, R1)
                .load(Width.U64, R1, R7, fields.utask())
                .ifZero(R1, none)
                .load(Width.U64, R3, R1, fields.instances())
                .store(Width.U64, R6, UnwindScratch.INSTANCE, R3)
                .at(none);
    }

    /** Puts the true return address into IP. The register has the CFA; R0 to R5 are lost. */
    void replace(CodeBuilder code, BpfRegister cfa) {
        if (!isWanted()) {
            return;
        }
        Label plain = new Label("true address");
        code.load(Width.U64, R1, R6, IP)
                .load(Width.U64, R2, R6, TRAMPOLINE)
                .branch(JumpCondition.NOT_EQUAL, R1, R2, plain)
                .move(R1, R6)
                .move(R2, cfa)
                .call(find)
                .at(plain);
    }

    /** R1 = scratch memory, R2 = CFA of the frame that returns to the trampoline. */
    void find(CodeBuilder code) {
        ReturnFields fields = kernel.returns();
        if (fields == null) {
            return;
        }
        int bytes = Math.max(Math.max(fields.stack(), fields.original()), fields.next()) + 8;
        if (bytes > NODE_BYTES) {
            throw new IllegalStateException("struct return_instance: field at " + bytes);
        }
        Label again = new Label("again");
        Label found = new Label("found");
        Label none = new Label("none");
        code.move(R6, R1)
                .move(R7, R2)
                .add(R7, -8)
                .load(Width.U64, R8, R6, UnwindScratch.INSTANCE)
                .move(R9, MOST_DEPTH)
                .at(again)
                .ifZero(R8, none)
                .move(R1, R6)
                .add(R1, NODE)
                .move(R2, bytes)
                .move(R3, R8)
                .call(HelperFunctionId.PROBE_READ_KERNEL)
                .ifNotZero(R0, none)
                .load(Width.U64, R8, R6, NODE + fields.next())
                .load(Width.U64, R1, R6, NODE + fields.stack())
                .branch(JumpCondition.EQUAL, R1, R7, found)
                .add(R9, -1)
                .ifNotZero(R9, again)
                .jump(none)
                .at(found)
                .load(Width.U64, R1, R6, NODE + fields.original())
                .store(Width.U64, R6, IP, R1)
                .store(Width.U64, R6, UnwindScratch.INSTANCE, R8)
                .at(none)
                .exit(0);
    }
}
