package sonde.tools.explain;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;
import sonde.tools.explain.IncidentKind.IncidentWeight;

/** The kinds of reports, from {@code incidents.txt}. */
final class Catalogue {
    /** A kind and what its first line says. */
    record KindMatch(IncidentKind kind, Matcher matcher) {}

    /** LOG_LINE_MAX of kernel/printk/printk.c: no record is longer. */
    private static final int MOST_TEXT = 1024;

    private final List<IncidentKind> kinds = new ArrayList<>();
    private final Map<String, BitSet> users = new HashMap<>();
    private final LiteralAutomaton automaton;

    Catalogue(Set<String> others) {
        try (InputStream in = Catalogue.class.getResourceAsStream("incidents.txt")) {
            if (in == null) {
                throw new IllegalStateException("incidents.txt");
            }
            read(new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Set<String> literals = new TreeSet<>(others);
        for (int k = 0; k < kinds.size(); k++) {
            for (String literal : kinds.get(k).literals()) {
                users.computeIfAbsent(literal, _ -> new BitSet()).set(k);
            }
        }
        literals.addAll(users.keySet());
        automaton = new LiteralAutomaton(literals);
    }

    LiteralAutomaton automaton() {
        return automaton;
    }

    /** The first kind of the table whose report begins with this text. */
    @Nullable KindMatch find(String line) {
        String text = line.length() > MOST_TEXT ? line.substring(0, MOST_TEXT) : line;
        BitSet may = new BitSet();
        for (String literal : automaton.literals(text)) {
            may.or(users.getOrDefault(literal, new BitSet()));
        }
        for (int k = may.nextSetBit(0); k >= 0; k = may.nextSetBit(k + 1)) {
            IncidentKind kind = kinds.get(k);
            for (int i = 0; i < kind.first().size(); i++) {
                Matcher matcher = kind.first().get(i).match(text);
                if (matcher != null) {
                    return new KindMatch(kind, matcher);
                }
            }
        }
        return null;
    }

    private void read(BufferedReader in) throws IOException {
        Map<String, List<String>> block = new HashMap<>();
        String name = "";
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.startsWith("#") || line.isBlank()) {
                continue;
            }
            if (line.startsWith("[")) {
                add(name, block);
                block.clear();
                name = line.substring(1, line.indexOf(']'));
                continue;
            }
            int space = line.indexOf(' ');
            String key = space < 0 ? line : line.substring(0, space);
            String value = space < 0 ? "" : line.substring(space + 1).strip();
            block.computeIfAbsent(key, _ -> new ArrayList<>()).add(value);
        }
        add(name, block);
    }

    private void add(String name, Map<String, List<String>> block) {
        if (name.isEmpty()) {
            return;
        }
        String severity = String.join("", block.getOrDefault("severity", List.of("error")));
        kinds.add(
                new IncidentKind(
                        name,
                        String.join("", block.getOrDefault("group", List.of(name))),
                        String.join("", block.getOrDefault("type", List.of(""))),
                        IncidentWeight.valueOf(severity.toUpperCase(Locale.ROOT)),
                        List.copyOf(block.getOrDefault("on", List.of())),
                        patterns(block, "match"),
                        patterns(block, "field"),
                        List.copyOf(block.getOrDefault("title", List.of())),
                        words(block, "within"),
                        words(block, "skip"),
                        words(block, "flag"),
                        List.copyOf(block.getOrDefault("what", List.of())),
                        String.join(" ", block.getOrDefault("means", List.of())),
                        List.copyOf(block.getOrDefault("next", List.of()))));
    }

    private static List<LinePattern> patterns(Map<String, List<String>> block, String key) {
        return block.getOrDefault(key, List.of()).stream().map(LinePattern::new).toList();
    }

    private static Set<String> words(Map<String, List<String>> block, String key) {
        Set<String> words = new HashSet<>();
        for (String line : block.getOrDefault(key, List.of())) {
            words.addAll(List.of(line.split(" +")));
        }
        return words;
    }
}
