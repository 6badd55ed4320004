package sonde.tools.explain;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Which functions report, check, lock, copy or wait for others, from {@code frames.txt}. */
final class BlameRules {
    private static final int MOST_KNOWN = 1 << 14;

    private record RuleNames(Set<String> names, List<String> begins, Map<String, Boolean> known) {
        RuleNames() {
            this(new HashSet<>(), new ArrayList<>(), new HashMap<>());
        }

        boolean has(String name) {
            if (known.size() > MOST_KNOWN) {
                known.clear();
            }
            return known.computeIfAbsent(name, this::isNamed);
        }

        private boolean isNamed(String name) {
            if (names.contains(name)) {
                return true;
            }
            for (String begin : begins) {
                if (name.startsWith(begin)) {
                    return true;
                }
            }
            return false;
        }
    }

    private static final Pattern ARCHITECTURE = Pattern.compile("^arch/\\w+/");

    private final Map<String, RuleNames> sections = new HashMap<>();

    BlameRules() {
        try (InputStream in = BlameRules.class.getResourceAsStream("frames.txt")) {
            if (in == null) {
                throw new IllegalStateException("frames.txt");
            }
            read(new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(BufferedReader in) throws IOException {
        RuleNames section = new RuleNames();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.startsWith("[")) {
                section = new RuleNames();
                sections.put(line.substring(1, line.indexOf(']')), section);
            } else if (!line.startsWith("#")) {
                for (String word : line.strip().split("\\s+")) {
                    if (word.endsWith("*")) {
                        section.begins().add(word.substring(0, word.length() - 1));
                    } else if (!word.isEmpty()) {
                        section.names().add(word);
                    }
                }
            }
        }
    }

    /** Whether a section names the function. */
    boolean has(String section, String function) {
        RuleNames found = sections.get(section);
        return found != null && found.has(function);
    }

    /** The section that takes the blame from a function; empty where it is to blame itself. */
    String skips(String function, Set<String> further) {
        if (has("always", function)) {
            return "always";
        }
        for (String section : further) {
            if (has(section, function)) {
                return section;
            }
        }
        return "";
    }

    /** The common name of functions that wait alike. */
    String alias(String function) {
        return function.startsWith("smp_") || function.startsWith("csd_")
                ? "smp_call_function"
                : "synchronize_rcu";
    }

    /** Whether the functions of a source file serve all others. */
    boolean serves(String file) {
        String name = file.startsWith("./") ? file.substring(2) : file;
        String anyMachine = ARCHITECTURE.matcher(name).replaceFirst("arch/*/");
        return has("files", anyMachine);
    }

    /** Whether it is such a common name. */
    boolean isAlias(String function) {
        return has("alias", function) && alias(function).equals(function);
    }
}
