package sonde.bpf.link;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R6;

import java.io.IOException;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.sys.SyscallException;

/** A program that counts how often it ran and adds up the cookies it was given. */
public final class Counted implements AutoCloseable {
    private static final int GET_ATTACH_COOKIE = 174;

    private final BpfMap map;
    public final Program program;

    private Counted(BpfMap map, Program program) {
        this.map = map;
        this.program = program;
    }

    /** Without cookies. */
    public static Counted of(ProgramType type, int result) throws IOException {
        return of(new ProgramSpec("t_counted", type, NOTHING), result, false);
    }

    /** With cookies. */
    public static Counted withCookie(ProgramType type) throws IOException {
        return of(new ProgramSpec("t_counted", type, NOTHING), 0, true);
    }

    /** For a place. */
    public static Counted at(ProgramType type, AttachType place, int result) throws IOException {
        return of(new ProgramSpec("t_counted", type, NOTHING).expecting(place), result, false);
    }

    private static final ProgramCode NOTHING = new CodeBuilder().exit(0).build();

    /** As the specification says, with other instructions. */
    public static Counted of(ProgramSpec spec, int result, boolean cookie) throws IOException {
        BpfMap map = BpfMap.create(new MapSpec("t_counted", MapType.ARRAY, 4, 16, 1));
        try {
            CodeBuilder code =
                    new CodeBuilder()
                            .move(R6, R1)
                            .mapValue(R1, map.fd(), 0)
                            .move(R2, 1)
                            .atomicAdd(Width.U64, R1, 0, R2);
            if (cookie) {
                code.move(R1, R6)
                        .call(GET_ATTACH_COOKIE)
                        .mapValue(R1, map.fd(), 8)
                        .atomicAdd(Width.U64, R1, 0, R0);
            }
            ProgramSpec counting =
                    new ProgramSpec(spec.name(), spec.type(), code.exit(result).build())
                            .targeting(spec.expected(), spec.btfId(), spec.owner())
                            .with(spec.flags())
                            .licensed(spec.license());
            return new Counted(map, Program.load(counting));
        } catch (IOException e) {
            map.close();
            throw e;
        }
    }

    public long hits() throws SyscallException {
        return map.word(0);
    }

    public long cookies() throws SyscallException {
        return map.word(8);
    }

    @Override
    public void close() {
        program.close();
        map.close();
    }
}
