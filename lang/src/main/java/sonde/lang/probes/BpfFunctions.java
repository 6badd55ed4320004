package sonde.lang.probes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.btf.Btf;
import sonde.bpf.LoadedBtf;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.event.Glob;

/** Functions of the BPF programs that are loaded, of those that have types. */
final class BpfFunctions {
    private BpfFunctions() {}

    /**
     * A function.
     *
     * @param program number of its program
     * @param btfId of the function in the program's types
     */
    record Function(int program, String name, int btfId) {}

    /**
     * All that a pattern names.
     *
     * @param program 0 for all
     */
    static List<Function> like(int program, Glob name) throws IOException {
        List<Function> found = new ArrayList<>();
        for (int id : program == 0 ? Program.ids() : List.of(program)) {
            try (Program opened = Program.openId(id)) {
                add(id, opened, name, found);
            } catch (IOException e) {
                // It has ended meanwhile, or tells nothing of itself.
                continue;
            }
        }
        return found;
    }

    private static void add(int id, Program program, Glob name, List<Function> found)
            throws IOException {
        int types = program.facts().btfId();
        if (types == 0) {
            return;
        }
        try (LoadedBtf loaded = LoadedBtf.openId(types)) {
            Btf btf = loaded.types();
            // struct bpf_func_info: instruction, type id.
            int[] records = ProgramFacts.functionRecords(program);
            for (int i = 1; i < records.length; i += 2) {
                String function = btf.type(records[i]).name();
                if (name.matches(function)) {
                    found.add(new Function(id, function, records[i]));
                }
            }
        }
    }
}
