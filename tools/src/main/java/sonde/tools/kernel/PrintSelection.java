package sonde.tools.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import sonde.event.Glob;
import sonde.probe.printk.PrintSite;
import sonde.tools.option.OptionException;

/**
 * Which debug messages are meant, in the kernel's words: {@code file}, {@code module}, {@code
 * func}, {@code format} and {@code line} with a value each, which all must match. A word without a
 * keyword is a module, a function or a file.
 */
record PrintSelection(String text, String module, Predicate<PrintSite> test) {
    static PrintSelection of(List<String> words) {
        Predicate<PrintSite> all = _ -> true;
        String module = "";
        List<String> left = new ArrayList<>(words);
        while (!left.isEmpty()) {
            String key = left.removeFirst();
            boolean isKey = List.of("file", "module", "func", "format", "line").contains(key);
            if (isKey && left.isEmpty()) {
                throw new OptionException("'" + key + "' needs a value behind it");
            }
            String value = isKey ? left.removeFirst() : key;
            module = key.equals("module") || !isKey ? value : module;
            all = all.and(one(isKey ? key : "", value));
        }
        return new PrintSelection(String.join(" ", words), module, all);
    }

    private static Predicate<PrintSite> one(String key, String value) {
        Glob glob = Glob.shell(value);
        return switch (key) {
            case "file" -> site -> isFile(glob, site);
            case "module" -> site -> isModule(glob, site);
            case "func" -> site -> glob.matches(site.function());
            case "format" -> format(value);
            case "line" -> line(value);
            default ->
                    site ->
                            isModule(glob, site)
                                    || glob.matches(site.function())
                                    || isFile(glob, site);
        };
    }

    /** As the kernel: the whole path, or the name behind its last slash. */
    private static boolean isFile(Glob glob, PrintSite site) {
        String file = site.file();
        return glob.matches(file) || glob.matches(file.substring(file.lastIndexOf('/') + 1));
    }

    /** A file's name may have a dash where the module has an underscore. */
    private static boolean isModule(Glob glob, PrintSite site) {
        return glob.matches(site.module())
                || Glob.shell(glob.toString().replace('-', '_')).matches(site.module());
    }

    /** A part of the format; the start with {@code ^}, and all of it with {@code *}. */
    private static Predicate<PrintSite> format(String value) {
        if (value.contains("*")) {
            Glob glob = Glob.shell(value);
            return site -> glob.matches(site.format());
        }
        return value.startsWith("^")
                ? site -> site.format().startsWith(value.substring(1))
                : site -> site.format().contains(value);
    }

    private static Predicate<PrintSite> line(String value) {
        if (!value.matches("\\d{1,9}|\\d{1,9}-\\d{0,9}|-\\d{1,9}")) {
            throw new OptionException("line takes N, N-M, N- or -M, not '" + value + "'");
        }
        int dash = value.indexOf('-');
        String from = dash < 0 ? value : value.substring(0, dash);
        String to = dash < 0 ? value : value.substring(dash + 1);
        int first = from.isEmpty() ? 0 : Integer.parseInt(from);
        int last = to.isEmpty() ? Integer.MAX_VALUE : Integer.parseInt(to);
        return site -> site.line() >= first && site.line() <= last;
    }
}
