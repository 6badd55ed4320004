package sonde.bpf.interpreter;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** BPF_MAP_TYPE_PROG_ARRAY: programs that others end in (bpf_tail_call). */
public final class VirtualPrograms extends VirtualMap {
    private final Map<Integer, VirtualProgram> programs = new TreeMap<>();

    /** An empty one. */
    public VirtualPrograms(String name, int maxEntries) {
        super(name, 4, 4, maxEntries);
    }

    /** Puts a program at an index. */
    public VirtualPrograms put(int index, VirtualProgram program) {
        if (index < 0 || index >= maxEntries()) {
            throw new IndexOutOfBoundsException(index);
        }
        programs.put(index, program);
        return this;
    }

    @Nullable VirtualProgram program(int index) {
        return programs.get(index);
    }

    @Override
    public List<byte[]> keys() {
        return programs.keySet().stream().map(VirtualArray::key).toList();
    }
}
