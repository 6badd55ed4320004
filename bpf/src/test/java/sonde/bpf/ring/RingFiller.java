package sonde.bpf.ring;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R6;

import java.io.IOException;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramType;
import sonde.bpf.TestRun;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.sys.SyscallException;

/** Writes numbered records into a ring buffer by test runs of a program. */
final class RingFiller implements AutoCloseable {
    /** BPF_RB_NO_WAKEUP. */
    static final int NO_WAKEUP = 1;

    private final int perRun;
    private final BpfMap counts;
    private final Program program;

    /** Each run writes so many records, the rising number in the first word. */
    RingFiller(BpfMap ring, int recordBytes, int perRun, int flags) throws IOException {
        this.perRun = perRun;
        counts = BpfMap.create(new MapSpec("t_fill", MapType.ARRAY, 4, 16, 1));
        CodeBuilder code = new CodeBuilder();
        for (int at = recordBytes; at > 0; at -= 8) {
            code.store(Width.U64, R10, -at, at);
        }
        for (int i = 0; i < perRun; i++) {
            Label sent = new Label("sent" + i);
            code.mapValue(R6, counts.fd(), 0)
                    .load(Width.U64, R1, R6, 0)
                    .add(R1, 1)
                    .store(Width.U64, R6, 0, R1)
                    .store(Width.U64, R10, -recordBytes, R1)
                    .map(R1, ring.fd())
                    .move(R2, R10)
                    .add(R2, -recordBytes)
                    .move(R3, recordBytes)
                    .move(R4, flags)
                    .call(HelperFunctionId.RINGBUF_OUTPUT)
                    .ifZero(R0, sent)
                    .load(Width.U64, R1, R6, 8)
                    .add(R1, 1)
                    .store(Width.U64, R6, 8, R1)
                    .at(sent);
        }
        program = Program.load("t_fill", ProgramType.SOCKET_FILTER, code.exit(0).build());
    }

    /** Runs so often; all on the calling thread's CPU. */
    void run(int times) throws BpfRefusedException, SyscallException {
        program.run(new TestRun(new byte[14], new byte[0], times, 0));
    }

    int perRun() {
        return perRun;
    }

    long written() throws SyscallException {
        return counts.word(0);
    }

    long refused() throws SyscallException {
        return counts.word(8);
    }

    @Override
    public void close() {
        program.close();
        counts.close();
    }
}
