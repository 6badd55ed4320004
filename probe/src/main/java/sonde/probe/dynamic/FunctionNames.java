package sonde.probe.dynamic;

import java.io.IOException;
import java.util.List;
import java.util.TreeSet;
import sonde.binary.dwarf.location.SourceFunction;
import sonde.event.Glob;
import sonde.symbol.demangle.Demangler;

/** Functions that can be probed, by name. */
public final class FunctionNames {
    private FunctionNames() {}

    /**
     * Names that a glob fits, sorted, as {@link PointSpec} takes them: with name spaces, classes
     * and the types of templates, without parameters. The glob may also be of the name alone, of
     * the symbol, or of the name with parameters.
     */
    public static List<String> matching(ProbedObject subject, String glob) throws IOException {
        Glob pattern = Glob.shell(glob);
        TreeSet<String> names = new TreeSet<>();
        for (String symbol : subject.symbols().functionNames()) {
            String name = Demangler.functionName(symbol);
            if (fits(pattern, name, symbol)) {
                names.add(name);
            }
        }
        KernelImage kernel = subject.kernel();
        if (kernel != null && subject.elf().isEmpty()) {
            for (String name : kernel.names().all()) {
                if (pattern.matches(name)) {
                    names.add(name);
                }
            }
        }
        if (subject.hasEntries()) {
            for (SourceFunction one :
                    subject.functions()
                            .matching(
                                    (name, symbol) ->
                                            pattern.matches(name)
                                                    || fits(
                                                            pattern,
                                                            shown("", name, symbol),
                                                            symbol)
                                                    || glob.contains("::"),
                                    true)) {
                boolean live =
                        one.copies().stream().anyMatch(copy -> subject.isCode(copy.entryAddress()));
                if (!live) {
                    continue; // the linker left it out
                }
                String name = shown(one.scope(), one.name(), one.linkageName());
                if (fits(pattern, name, one.linkageName()) || pattern.matches(one.name())) {
                    names.add(name);
                }
            }
        }
        return List.copyOf(names);
    }

    private static String shown(String scope, String name, String symbol) {
        String written = Demangler.functionName(symbol);
        return written.isEmpty() || written.equals(symbol) ? scope + name : written;
    }

    private static boolean fits(Glob pattern, String name, String symbol) {
        return pattern.matches(name)
                || !symbol.isEmpty()
                        && (pattern.matches(symbol)
                                || symbol.startsWith("_")
                                        && pattern.matches(Demangler.demangle(symbol)));
    }
}
