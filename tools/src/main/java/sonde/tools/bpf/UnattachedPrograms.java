package sonde.tools.bpf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.object.LoadedObject;
import sonde.bpf.object.ObjectProgram;
import sonde.bpf.object.ProgramSection;

/** Says which loaded programs are attached to nothing, and what would attach them. */
public final class UnattachedPrograms {
    private UnattachedPrograms() {}

    /** {@code "a (tcx/ingress), b (xdp): needs --dev DEVICE"}; one line for each thing to do. */
    public static List<String> of(LoadedObject object) {
        Map<String, List<String>> programs = new LinkedHashMap<>();
        for (ObjectProgram program : object.object().programs()) {
            ProgramSection section = program.section();
            if (section != null
                    && object.programs().containsKey(program.name())
                    && !object.links().containsKey(program.name())) {
                programs.computeIfAbsent(need(section), _ -> new ArrayList<>())
                        .add("%s (%s)".formatted(program.name(), section.name()));
            }
        }
        List<String> lines = new ArrayList<>();
        programs.forEach((need, names) -> lines.add(String.join(", ", names) + ": " + need));
        return lines;
    }

    private static String need(ProgramSection section) {
        return switch (section.way()) {
            case DEVICE -> "needs --dev DEVICE";
            case CGROUP, CGROUP_SECURITY_HOOK -> "needs --cgroup DIR";
            case NETNS -> "needs --netns FILE";
            case NONE, STRUCT_OPS -> "no section of its kind says where";
            default -> "its section does not say where";
        };
    }
}
