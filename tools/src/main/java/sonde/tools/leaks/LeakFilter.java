package sonde.tools.leaks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import sonde.event.result.Frame;

/**
 * Which stacks are shown: those with code of a module, with one of some functions, or with code of
 * some source files.
 *
 * @param modules names without brackets
 * @param functions names
 * @param patterns of names of functions
 * @param sources folders or files, as ends or parts of the paths that debugging information names
 */
record LeakFilter(
        Set<String> modules, Set<String> functions, List<Pattern> patterns, List<String> sources) {
    boolean isEmpty() {
        return modules.isEmpty() && functions.isEmpty() && patterns.isEmpty() && sources.isEmpty();
    }

    /**
     * Whether a stack could pass: code that is built in has no name of a module.
     *
     * @param seen code of modules on stacks, in lines of kallsyms; a module that fails to load is
     *     gone
     */
    boolean isLoaded(String seen) {
        return modules.isEmpty()
                || !functions.isEmpty()
                || !patterns.isEmpty()
                || !sources.isEmpty()
                || modules.stream()
                        .anyMatch(one ->
                                seen.contains("[" + one + "]")
                                        || Files.exists(Path.of("/sys/module", one, "initstate")));
    }

    boolean passes(List<Frame> frames) {
        return isEmpty() || frames.stream().anyMatch(this::isWanted);
    }

    /** How many frames are beneath the first one that is wanted; all when none is. */
    int before(List<Frame> frames) {
        int count = 0;
        while (count < frames.size() && !isWanted(frames.get(count))) {
            count++;
        }
        return count;
    }

    private boolean isWanted(Frame frame) {
        String module = frame.module();
        String bare = module.startsWith("[") ? module.substring(1, module.length() - 1) : module;
        // The compiler makes parts and copies: foo.isra.0, foo.cold.
        String name = frame.name();
        int dot = name.indexOf('.');
        String base = dot > 0 ? name.substring(0, dot) : name;
        return modules.contains(bare.replace('-', '_'))
                || functions.contains(name)
                || functions.contains(base)
                || patterns.stream().anyMatch(one -> one.matcher(base).matches())
                || !frame.file().isEmpty() && sources.stream().anyMatch(one -> isIn(frame, one));
    }

    private static boolean isIn(Frame frame, String source) {
        String file = "/" + frame.file();
        return file.endsWith("/" + source) || file.contains("/" + source + "/");
    }
}
