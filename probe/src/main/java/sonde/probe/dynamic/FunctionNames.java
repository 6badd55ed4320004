package sonde.probe.dynamic;

import java.io.IOException;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import sonde.format.dwarf.location.SourceFunction;

/** Functions that can be probed, by name. */
public final class FunctionNames {
    private FunctionNames() {}

    /** Names that a glob fits, sorted: of symbols, and of what debugging information adds. */
    public static List<String> matching(Subject subject, String glob) throws IOException {
        Pattern pattern = NamedProbes.glob(glob);
        TreeSet<String> names = new TreeSet<>();
        for (String name : subject.symbols().functionNames()) {
            if (pattern.matcher(name).matches()) {
                names.add(name);
            }
        }
        KernelImage kernel = subject.kernel();
        if (kernel != null && subject.elf().isEmpty()) {
            for (String name : kernel.names().all()) {
                if (pattern.matcher(name).matches()) {
                    names.add(name);
                }
            }
        }
        if (subject.hasEntries()) {
            for (SourceFunction one :
                    subject.functions().matching(name -> pattern.matcher(name).matches())) {
                names.add(one.name());
            }
        }
        return List.copyOf(names);
    }
}
