package sonde.tools.script;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import sonde.event.NearestNames;
import sonde.lang.bpftrace.expand.ScriptOption;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceText;
import sonde.tools.script.ToolRules.RulesReader;

/**
 * A script with a name. Its comment on top says all there is to say: {@code // NAME: summary} in
 * the first line; then paragraphs; then lines {@code // example: …} with arguments, and {@code //
 * alternative: WORD} for each further {@code NAME.WORD.bt}, tried in that order where the ones
 * before cannot run; then the lines of {@link ToolRules}.
 *
 * @param summary one line
 * @param description lines of the paragraphs
 * @param examples arguments behind {@code sonde tool}
 * @param variants the script, then its alternatives
 * @param rules what the words of its command line mean
 */
public record ScriptTool(
        String name,
        String summary,
        List<String> description,
        List<String> examples,
        List<ToolVariant> variants,
        ToolRules rules) {
    private static final String END = ".bt";
    private static final Map<ToolVariant, List<ScriptOption>> OPTIONS = new ConcurrentHashMap<>();
    private static final SharedMacros SHARED =
            new SharedMacros(resource("macros/shared.bt").orElseThrow());

    /**
     * One script of a tool.
     *
     * @param name of its file
     */
    public record ToolVariant(String name, String text) {
        /** The same of another text. */
        ToolVariant text(String other) {
            return new ToolVariant(name, other);
        }

        /** For the compiler. */
        public SourceText source() {
            return new SourceText(name, text);
        }
    }

    /** The names of all tools, sorted: {@code names.txt}, since a module's folder has no list. */
    public static List<String> names() {
        return resource("names.txt").orElseThrow().lines().toList();
    }

    /** The tool whose name is most like a word; empty for none. */
    public static Optional<String> like(String word) {
        return NearestNames.near(word, names()).stream().findFirst();
    }

    /**
     * What to say of a tool of BCC or bpftrace that has none of its name here: the nearest command,
     * or that there is none; empty for a name that is none of theirs.
     */
    public static Optional<String> elsewhere(String name) {
        for (String line : resource("elsewhere.txt").orElseThrow().lines().toList()) {
            int bar = line.indexOf(" | ");
            if (bar > 0 && List.of(line.substring(0, bar).split(" ")).contains(name)) {
                String command = line.substring(bar + 3);
                return Optional.of(
                        command.equals("-")
                                ? "sonde has nothing that does what " + name + " does"
                                : "the nearest to " + name + ": " + command);
            }
        }
        return Optional.empty();
    }

    /** The tool of a name. */
    public static Optional<ScriptTool> find(String name) {
        if (!name.matches("[a-z0-9]{1,40}")) {
            return Optional.empty();
        }
        return read(name).map(script -> of(name, script));
    }

    private static ScriptTool of(String name, ToolVariant script) {
        String summary = "";
        List<String> description = new ArrayList<>();
        List<String> examples = new ArrayList<>();
        List<ToolVariant> variants = new ArrayList<>(List.of(script));
        RulesReader rules = new RulesReader();
        for (String line : script.text().lines().takeWhile(one -> one.startsWith("//")).toList()) {
            String said = line.substring(2).strip();
            int colon = said.indexOf(": ");
            String key = colon < 0 ? "" : said.substring(0, colon);
            if (key.equals(name)) {
                summary = said.substring(colon + 2);
            } else if (key.equals("example")) {
                examples.add(said.substring(colon + 2));
            } else if (key.equals("alternative")) {
                read(name + "." + said.substring(colon + 2)).ifPresent(variants::add);
            } else if (!rules.accept(key, key.isEmpty() ? "" : said.substring(colon + 2))) {
                description.add(said);
            }
        }
        for (String macro : SHARED.of(script.text())) {
            macro.lines().filter(line -> line.startsWith("// ")).forEach(line -> rule(line, rules));
        }
        if (description.stream().allMatch(String::isEmpty)) {
            description.clear();
        }
        return new ScriptTool(name, summary, description, examples, variants, rules.rules());
    }

    private static void rule(String line, RulesReader rules) {
        int colon = line.indexOf(": ");
        if (colon >= 0) {
            rules.accept(line.substring(3, colon), line.substring(colon + 2));
        }
    }

    /** A script, with the shared macros that it calls. */
    private static Optional<ToolVariant> read(String name) {
        return resource(name + END)
                .map(text -> text + "\n" + String.join("\n\n", SHARED.of(text)))
                .map(text -> new ToolVariant(name + END, text.strip() + "\n"));
    }

    private static Optional<String> resource(String name) {
        try (InputStream in = ScriptTool.class.getResourceAsStream(name)) {
            return in == null
                    ? Optional.empty()
                    : Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What its first script asks for with {@code getopt}. */
    public List<ScriptOption> options() {
        return OPTIONS.computeIfAbsent(
                variants.getFirst(),
                script ->
                        ScriptParameters.options(
                                ScriptParser.parse(script.source(), new CompilerDiagnostics())));
    }
}
