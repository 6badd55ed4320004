package sonde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.probe.plan.Topic;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.HelpText;
import sonde.tools.option.OptionException;
import sonde.tools.option.OptionModel;
import sonde.tools.option.OptionWords;
import sonde.tools.option.PicocliWords;
import sonde.tools.option.ValueKind;
import sonde.tools.report.ReportSection;
import sonde.tools.report.section.ReportSections;
import sonde.tools.script.ScriptTool;
import sonde.tools.script.ToolModel;

/** What commands accept is what their models list, and a word means the same in all of them. */
class CommandTableTest {
    private static final Path SOURCES = Path.of("../cli/src/main/java/sonde/cli");
    private static final Path TOOLS = Path.of("../tools/src/main/java/sonde/tools");
    private static final Pattern ASKED =
            Pattern.compile("\\b(?:has|texts?|path|numbers?|nanos)\\(\\s*\"(--?[\\w-]+)\"");
    private static final Pattern QUOTED = Pattern.compile("\"(--?[a-zA-Z][\\w-]*)\"");

    /** Accepted for bpftrace's sake, without effect. */
    private static final Set<String> WITHOUT_EFFECT =
            Set.of(
                    "trace --verify-llvm-ir",
                    "trace --usdt-file-activation",
                    "probe add --force",
                    "syscalls --summary-wall-clock",
                    "syscalls --summary-syscall-overhead",
                    "syscalls --seccomp-bpf",
                    "syscalls --interruptible");

    /** Names that are of several kinds, and why. */
    private static final Map<String, String> SEVERAL_KINDS =
            Map.ofEntries(
                    Map.entry("--time", "a range in perf report, a column in BCC's tools"),
                    Map.entry("--lport", "a port in BCC's tools, a column in its tcpconnect"),
                    Map.entry(
                            "--call-graph",
                            "the way of unwinding in perf record, the order in perf report"),
                    Map.entry("--cpu", "ranges in record, as taskset has them"),
                    Map.entry("--quiet", "messages in strace, a flag elsewhere"),
                    Map.entry("--raw", "calls in strace, a flag elsewhere"),
                    Map.entry("--verbose", "calls in strace, a flag elsewhere"),
                    Map.entry("--stacks", "events in record, a flag in BCC's tools"),
                    Map.entry("--user", "a user in record, user stacks alone in BCC's tools"),
                    Map.entry(
                            "--columns", "the column of the result in strace, a flag in symbolize"),
                    Map.entry("--functions", "names in leaks, a flag in report and list"),
                    Map.entry("--to", "convert's formats are too many to be listed as choices"),
                    Map.entry("-e", "bpftrace's program; a letter without effect in BCC's tcprtt"));

    /** Commands whose letters are those of another program. */
    private static final Map<String, String> PEERS =
            Map.of(
                    "elf", "readelf",
                    "symbolize", "addr2line",
                    "trace", "bpftrace",
                    "tool", "BCC",
                    "explain", "dmesg",
                    "syscalls", "strace",
                    "calls", "ltrace",
                    "ftrace function", "trace-cmd",
                    "ftrace graph", "trace-cmd",
                    "bpf btf", "bpftool");

    /** Letters that stand for several options in all other commands, and why. */
    private static final Map<String, String> SEVERAL_OPTIONS =
            Map.of(
                    "-F", "the frequency in perf record, the fields in perf script",
                    "-f", "the filter in trace-cmd record, force in bpftool",
                    "-g", "stacks in perf record, their order in perf report");

    private static Stream<String> names() {
        return CommandTable.all().stream();
    }

    private static CommandModel model(String name) {
        return CommandTable.find(name).orElseThrow().model();
    }

    @ParameterizedTest
    @MethodSource("names")
    void everyModelIsWhole(String name) {
        CommandModel model = model(name);
        assertThat(model.usage()).allMatch(line -> line.startsWith("sonde " + name));
        assertThat(model.summary()).isNotEmpty();
        Set<String> spellings = new TreeSet<>();
        model.groups()
                .forEach((title, options) -> {
                    for (OptionModel option : options) {
                        assertThat(option.names())
                                .allMatch(one -> one.matches("-\\w|--[a-z][a-z0-9-]+"));
                        assertThat(option.value().label()).as(option.head()).doesNotContain(" ");
                        option.spellings()
                                .forEach(one -> assertThat(spellings.add(one)).as(one).isTrue());
                        if (!title.equals(CommandModel.HIDDEN)) {
                            assertThat(option.help()).as(option.head()).isNotEmpty();
                        }
                    }
                });
        if (!name.equals("tool")) {
            assertThat(model.notes()).containsKey("Examples");
        }
        assertThat(HelpText.of(model, 80)).startsWith("Usage: sonde " + name);
    }

    /** The classes of a command ask for options of its model, and for all of them. */
    @ParameterizedTest
    @MethodSource("names")
    void whatIsAcceptedIsWhatIsAskedFor(String name) throws IOException {
        Set<String> asked = new TreeSet<>(Set.of("--help", "--version", "--debug", "--json"));
        String text =
                name.equals("trace")
                        ? arguments("Trace")
                        : Files.readString(SOURCES.resolve(className(name) + ".java"))
                                + ownArguments(name);
        collect(ASKED, text, asked);
        Set<String> own = new TreeSet<>(asked);
        for (String part :
                List.of(
                        "Symbol",
                        "Filter",
                        "Listing",
                        "BpfObject",
                        "Syscalls",
                        "Calls",
                        "HeapView")) {
            if (text.contains(part + "Arguments.")) {
                collect(QUOTED, arguments(part), asked);
            }
        }
        if (text.contains("ProbeTarget.")) {
            collect(ASKED, Files.readString(SOURCES.resolve("ProbeTarget.java")), asked);
            collect(QUOTED, arguments("Symbol"), asked);
        }
        switch (name) {
            case "record" -> {
                for (Topic topic : Topic.values()) {
                    asked.add("--no-" + topic.option());
                    own.add("--no-" + topic.option());
                }
            }
            case "report" ->
                    ReportSections.ALL.stream().map(ReportSection::options).forEach(asked::addAll);
            case "elf", "trace", "probe add", "heap" -> collect(QUOTED, text, asked);
            case "ftrace hist", "ftrace latency" -> {
                String recipe = name.endsWith("hist") ? "Histogram" : "Latency";
                Path file = TOOLS.resolve("ftrace/" + recipe + "Recipe.java");
                collect(QUOTED, Files.readString(file), asked);
            }
            default -> {}
        }
        CommandModel model = model(name);
        List<String> options = model.options().map(OptionModel::name).toList();
        assertThat(options)
                .filteredOn(one -> !WITHOUT_EFFECT.contains(name + " " + one))
                .filteredOn(one -> !asked.contains(one))
                .as("options of the MODEL of 'sonde " + name + "' that nothing asks for")
                .isEmpty();
        own.removeAll(Set.of("--json", "--no-"));
        own.removeAll(options);
        // The first two ask the options of tools, too; one class asks those of all of ftrace.
        if (!Set.of("trace", "tool").contains(name) && !name.startsWith("ftrace")) {
            assertThat(own).as("options that the MODEL of 'sonde " + name + "' lacks").isEmpty();
        }
    }

    /** The source of the class that reads a command's options for its recipe; empty for most. */
    private static String ownArguments(String name) throws IOException {
        String first = name.split(" ", 2)[0];
        return Set.of("record", "query", "elf", "explain", "ftrace", "heap", "leaks")
                        .contains(first)
                ? arguments(Character.toUpperCase(first.charAt(0)) + first.substring(1))
                : "";
    }

    /** The source of the class that reads options which several commands have. */
    private static String arguments(String part) throws IOException {
        for (String folder :
                List.of(
                        "option",
                        "report",
                        "trace",
                        "record",
                        "query",
                        "elf",
                        "syscalls",
                        "calls",
                        "heap",
                        "explain",
                        "ftrace",
                        "leaks")) {
            Path file = TOOLS.resolve(folder).resolve(part + "Arguments.java");
            if (Files.exists(file)) {
                return Files.readString(file);
            }
        }
        return Files.readString(SOURCES.resolve(part + "Arguments.java"));
    }

    private static void collect(Pattern pattern, String text, Set<String> into) {
        pattern.matcher(text).results().map(result -> result.group(1)).forEach(into::add);
    }

    private static String className(String name) {
        if (name.startsWith("ftrace")) {
            return "FtraceCommand"; // small: what it does is in tools.ftrace
        }
        String[] words = name.split(" ");
        StringBuilder text = new StringBuilder();
        for (String word : words) {
            text.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
        }
        return text.toString().replace("Tracelog", "TraceLog") + "Command";
    }

    private static Map<String, CommandModel> everything() {
        Map<String, CommandModel> models = new TreeMap<>();
        names().forEach(name -> models.put(name, model(name)));
        for (String tool : ScriptTool.names()) {
            models.put("tool " + tool, ToolModel.of(ScriptTool.find(tool).orElseThrow()));
        }
        return models;
    }

    @Test
    void aNameHasOneKindAndUnit() {
        Map<String, Map<String, Set<String>>> kinds = new TreeMap<>();
        everything()
                .forEach((name, model) ->
                        model.options()
                                .forEach(option -> {
                                    ValueKind kind = option.value().kind();
                                    String meaning =
                                            kind
                                                    + (kind == ValueKind.NUMBER
                                                            ? " " + option.value().label()
                                                            : "");
                                    kinds.computeIfAbsent(option.name(), _ -> new TreeMap<>())
                                            .computeIfAbsent(meaning, _ -> new TreeSet<>())
                                            .add(name);
                                }));
        kinds.values().removeIf(meanings -> meanings.size() == 1);
        assertThat(kinds.keySet()).as(() -> kinds.toString()).isEqualTo(SEVERAL_KINDS.keySet());
    }

    @Test
    void aLetterHasOneName() {
        Map<String, Set<String>> letters = new TreeMap<>();
        for (String name : CommandTable.all()) {
            if (!PEERS.containsKey(name)) {
                model(name)
                        .options()
                        .forEach(option ->
                                option.names().stream()
                                        .filter(one -> one.length() == 2)
                                        .forEach(letter ->
                                                letters.computeIfAbsent(
                                                                letter, _ -> new TreeSet<>())
                                                        .add(option.name())));
            }
        }
        letters.values().removeIf(meanings -> meanings.size() == 1);
        assertThat(letters.keySet())
                .as(() -> letters.toString())
                .isEqualTo(SEVERAL_OPTIONS.keySet());
    }

    /** Both readers of models take words alike. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "report | --rows 5 x.sonde --json | --json --rows=5 [x.sonde]",
                "report | --rows=5 -- -x | --rows=5 [-x]",
                "report | -NRF comm --sort=comm,dso x | --fields=comm --no-plugins --raw"
                        + " --sort=comm,dso [x]",
                "report | -Fcomm -F ip x | --fields=comm --fields=ip [x]",
                "report | --debuginfod x.sonde | --debuginfod= [x.sonde]",
                "report | --debuginfod http://a x | --debuginfod=http://a [x]",
                "elf | --strings --json x | --json --strings= [x]",
                "elf | --strings=.rodata x - | --strings=.rodata [x, -]",
                "elf | --disassemble main x | --disassemble=main [x]",
                "record | -p 1,2 --plan | --pid=1,2 --plan []",
                "record | -F 99 cat -F 5 | --frequency=99 [cat, -F, 5]",
                "report | --nosuch x | unknown option --nosuch",
                "report | --rosw 5 | unknown option --rosw; did you mean '--rows' or '--raw'?",
                "report | x --rows | --rows needs a value",
                "convert | -f a b | --force [a, b]",
                "query | x -f s.sql | --file=s.sql [x]",
                "query | x --json 1 | --json [x, 1]",
                "query | x --format csv y -f s.sql z | --file=s.sql --format=csv [x, y, z]",
            })
    void bothReadersAgree(String name, String line, String expected) {
        CommandModel model = model(name);
        List<String> words = List.of(line.split(" "));
        assertThat(shown(() -> OptionWords.read(model, words))).isEqualTo(expected);
        assertThat(shown(() -> PicocliWords.read(model, words))).isEqualTo(expected);
    }

    private static String shown(Supplier<GivenOptions> reader) {
        try {
            GivenOptions given = reader.get();
            List<String> all = new ArrayList<>();
            given.options()
                    .forEach(one ->
                            all.add(
                                    one.option().name()
                                            + (one.option().isFlag() ? "" : "=" + one.value())));
            all.sort(null);
            all.add(given.words().toString());
            return String.join(" ", all);
        } catch (OptionException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
