package sonde.probe.dynamic;

import java.io.IOException;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import sonde.format.dwarf.location.SourceFunction;
import sonde.symbol.demangle.Demangler;

/** Functions that can be probed, by name. */
public final class FunctionNames {
    private FunctionNames() {}

    /**
     * Names that a glob fits, as written or demangled, sorted: of symbols, and of what debugging
     * information adds.
     */
    public static List<String> matching(Subject subject, String glob) throws IOException {
        Pattern pattern = NamedProbes.glob(glob);
        TreeSet<String> names = new TreeSet<>();
        for (String name : subject.symbols().functionNames()) {
            String shown = Demangler.demangle(name);
            String plain = shown.indexOf('(') > 0 ? shown.substring(0, shown.indexOf('(')) : shown;
            if (pattern.matcher(name).matches()
                    || pattern.matcher(plain).matches()
                    || pattern.matcher(shown).matches()) {
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
