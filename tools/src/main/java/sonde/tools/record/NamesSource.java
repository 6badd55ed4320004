package sonde.tools.record;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.probe.names.NamesProgram;
import sonde.probe.perf.AuxiliaryProgram;
import sonde.sys.SyscallException;

/** The names program as a part of a recording session. */
final class NamesSource implements AuxiliaryProgram {
    private final Set<Integer> rootPids;
    private final boolean all;
    private @Nullable NamesProgram program;

    /**
     * @param rootPids whose trees are followed
     * @param all every process but this one instead
     */
    NamesSource(Set<Integer> rootPids, boolean all) {
        this.rootPids = rootPids;
        this.all = all;
    }

    @Override
    public void attach(Map<Integer, Integer> outputs) throws IOException {
        program =
                all
                        ? NamesProgram.ofAll(cpu -> outputs.getOrDefault(cpu, -1))
                        : NamesProgram.ofTree(cpu -> outputs.getOrDefault(cpu, -1), rootPids);
    }

    @Override
    public void follow(int pid) throws IOException {
        if (program != null && !all) {
            program.add(pid);
        }
    }

    @Override
    public List<String> events() {
        return program == null
                ? List.of()
                : program.syscalls().stream().map(call -> "names:" + call).toList();
    }

    @Override
    public long lost() {
        try {
            return program == null ? 0 : program.counters().dropped();
        } catch (SyscallException e) {
            return 0;
        }
    }

    @Override
    public List<Integer> detach() {
        return program == null ? List.of() : program.detach();
    }

    @Override
    public void close() {
        if (program != null) {
            program.close();
            program = null;
        }
    }
}
