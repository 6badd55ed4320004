package sonde.lang.probes;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R6;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.lang.probes.LoadNeeds.OpenTarget;
import sonde.sys.SyscallException;

/** A program that counts its runs, all of them and by the cookie of each. */
final class Hits implements AutoCloseable {
    private static final int GET_ATTACH_COOKIE = 174;
    private static final int LOOKUP = 1;
    private static final int COOKIES = 4096;

    private final BpfMap all;
    private final BpfMap byCookie;
    private final Program program;

    private Hits(BpfMap all, BpfMap byCookie, Program program) {
        this.all = all;
        this.byCookie = byCookie;
        this.program = program;
    }

    static Hits load(ProbeGroup group, boolean cookies) throws IOException {
        BpfMap all = BpfMap.create(new MapSpec("t_hits", MapType.ARRAY, 4, 8, 1));
        BpfMap by = BpfMap.create(new MapSpec("t_cookies", MapType.ARRAY, 4, 8, COOKIES));
        LoadNeeds needs = LoadNeeds.of(group);
        try (OpenTarget target = needs.target()) {
            ProgramSpec spec = needs.spec("t_hits", code(all, by, cookies));
            return new Hits(all, by, Program.load(target.of(spec)));
        } catch (IOException e) {
            by.close();
            all.close();
            throw e;
        }
    }

    private static ProgramCode code(BpfMap all, BpfMap by, boolean cookies) {
        CodeBuilder code =
                new CodeBuilder()
                        .move(R6, R1)
                        .mapValue(R1, all.fd(), 0)
                        .move(R2, 1)
                        .atomicAdd(Width.U64, R1, 0, R2);
        if (cookies) {
            Label end = new Label("end");
            code.move(R1, R6)
                    .call(GET_ATTACH_COOKIE)
                    .store(Width.U32, R10, -4, R0)
                    .map(R1, by.fd())
                    .move(R2, R10)
                    .add(R2, -4)
                    .call(LOOKUP)
                    .ifZero(R0, end)
                    .move(R2, 1)
                    .atomicAdd(Width.U64, R0, 0, R2)
                    .at(end);
        }
        return code.exit(0).build();
    }

    Program program() {
        return program;
    }

    long count() throws SyscallException {
        return all.word(0);
    }

    long count(int cookie) throws SyscallException {
        return byCookie.sum(cookie);
    }

    @Override
    public void close() {
        program.close();
        byCookie.close();
        all.close();
    }

    /** What this process has open of BPF and perf, by kind. */
    static Map<String, Integer> open() throws IOException {
        Map<String, Integer> kinds = new TreeMap<>();
        try (Stream<Path> list = Files.list(Path.of("/proc/self/fd"))) {
            for (Path path : list.toList()) {
                try {
                    String target = Files.readSymbolicLink(path).toString();
                    if (target.startsWith("anon_inode:")) {
                        kinds.merge(target, 1, Integer::sum);
                    }
                } catch (IOException e) {
                    // The descriptor of the listing itself is gone.
                    continue;
                }
            }
        }
        return kinds;
    }
}
