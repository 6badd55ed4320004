package sonde.tools.script;

import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Macros of several tools, in {@code shared.bt}: paragraphs of one each, with its comment. */
final class SharedMacros {
    private static final Pattern HEAD = Pattern.compile("(?m)^macro (\\w+)\\(");

    private final TreeMap<String, String> paragraphs = new TreeMap<>();

    SharedMacros(String text) {
        for (String paragraph : text.strip().split("\n\n")) {
            Matcher head = HEAD.matcher(paragraph);
            if (head.find()) {
                paragraphs.put(head.group(1), paragraph);
            }
        }
    }

    /** Those that a script calls, and those that they call. */
    List<String> of(String script) {
        TreeMap<String, String> used = new TreeMap<>();
        add(script, used);
        return List.copyOf(used.values());
    }

    private void add(String text, TreeMap<String, String> used) {
        paragraphs.forEach((name, paragraph) -> {
            boolean called = Pattern.compile("\\b" + name + "\\(").matcher(text).find();
            if (called && used.putIfAbsent(name, paragraph) == null) {
                add(paragraph, used);
            }
        });
    }
}
