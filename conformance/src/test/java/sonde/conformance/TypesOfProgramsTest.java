package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.event.result.Result;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.DwarfTypes;
import sonde.lang.declare.EntryArgument;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.probe.dynamic.ProbedObject;
import sonde.probe.dynamic.VariableView;
import sonde.probe.dynamic.VariableView.ViewedVariable;
import sonde.symbol.files.GivenPlaces;
import sonde.sys.Arch;
import sonde.testkit.CallPrograms;
import sonde.testkit.CallPrograms.Kind;
import sonde.testkit.Shard;
import sonde.tools.elf.ElfRecipe;
import sonde.tools.elf.ElfRequest;
import sonde.view.TerminalStyle;
import sonde.view.TextRenderer;

/**
 * {@code trace}, {@code probe} and {@code elf} are asked where arguments are and how types are laid
 * out. What is true the programs say themselves, where the registers are as the caller left them.
 */
final class TypesOfProgramsTest {
    private static final List<String> REGISTERS = List.of("di", "si", "dx", "cx", "r8", "r9");
    private static final Pattern PAIR = Pattern.compile("(\\S+)=(\\S+)");

    /** By compiler. */
    private static final Map<String, Map<String, Map<String, String>>> TRUTHS = new HashMap<>();

    @TempDir Path folder;

    /**
     * What a program says of its functions and types, by {@code "take_c8"}, {@code "layout c8"}.
     */
    private static Map<String, Map<String, String>> truth(Path program) throws Exception {
        Map<String, Map<String, String>> all = new HashMap<>();
        for (String line : run(List.of(program.toString())).lines().toList()) {
            Map<String, String> said = new HashMap<>();
            Matcher pair = PAIR.matcher(line);
            while (pair.find()) {
                said.put(pair.group(1), pair.group(2));
            }
            all.put(line.replaceFirst("( size| k)=.*", ""), said);
        }
        return all;
    }

    private static String run(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(out).isZero();
        return out;
    }

    private Path compile(String compiler, String source, String name, String... options)
            throws Exception {
        Path program = folder.resolve(name);
        List<String> command = new ArrayList<>(List.of(compiler, "-w", "-o", program.toString()));
        command.addAll(List.of(options));
        if (compiler.endsWith("++")) {
            command.add("-std=c++17");
        }
        Path text = folder.resolve(compiler.endsWith("++") ? "calls.cc" : "calls.c");
        command.add(Files.writeString(text, source).toString());
        run(command);
        return program;
    }

    private static boolean isThere(String compiler) {
        return Files.isExecutable(Path.of("/usr/bin/" + compiler));
    }

    /** Neighbours differ in compiler and options: a shard has some of each. */
    static List<Arguments> builds() {
        return Shard.of(
                List.of(
                        arguments("gcc", "-O0"),
                        arguments("gcc", "-O1"),
                        arguments("gcc", "-O2"),
                        arguments("clang", "-O0"),
                        arguments("clang", "-O1"),
                        arguments("clang", "-O2"),
                        arguments("g++", "-O0"),
                        arguments("g++", "-O1"),
                        arguments("g++", "-O2"),
                        arguments("clang++", "-O0"),
                        arguments("clang++", "-O1"),
                        arguments("clang++", "-O2"),
                        arguments("gcc", "-O2 -gdwarf-4 -fdebug-types-section"),
                        arguments("g++", "-O2 -gdwarf-4 -fdebug-types-section"),
                        arguments("gcc", "-O2 -fno-var-tracking"),
                        arguments("g++", "-O2 -fno-var-tracking")));
    }

    @ParameterizedTest
    @MethodSource("builds")
    void allSayWhereArgumentsAre(String compiler, String options) throws Exception {
        assumeTrue(isThere(compiler), compiler + " is not there");
        assumeTrue(Arch.current() == Arch.X86_64, "the stubs are of x86-64");
        List<Kind> kinds = compiler.endsWith("++") ? CallPrograms.cpp() : CallPrograms.c();
        String source = CallPrograms.source(kinds);
        Map<String, Map<String, String>> truth = TRUTHS.get(compiler);
        if (truth == null) {
            truth = truth(compile(compiler, source, "truth", "-O1", "-DTRUTH"));
            TRUTHS.put(compiler, truth);
        }
        List<String> words = new ArrayList<>(List.of("-g"));
        words.addAll(List.of(options.split(" ")));
        Path program = compile(compiler, source, "asked", words.toArray(String[]::new));
        List<String> wrong = new ArrayList<>();
        try (DwarfTypes types = DwarfTypes.open(program, List.of())) {
            Map<String, Long> entries = entries(program);
            for (Kind kind : kinds) {
                for (String called : List.of("take_", "late_", "give_")) {
                    String name = called + kind.name();
                    Map<String, String> said = Objects.requireNonNull(truth.get(name));
                    String traced =
                            traced(
                                    Objects.requireNonNull(
                                            types.arguments(name, entries.get(name), false)));
                    compare(name + " trace", said, traced, kind, wrong);
                    compare(name + " probe", said, probed(program, name), kind, wrong);
                }
                layout(kind, truth.get("layout " + kind.name()), types, wrong);
            }
            elf(program, kinds, truth, wrong);
        }
        assertThat(wrong).isEmpty();
    }

    private static Map<String, Long> entries(Path program) throws Exception {
        return run(List.of("nm", program.toString()))
                .lines()
                .map(line -> line.split(" "))
                .filter(words -> words.length == 3 && !words[0].isEmpty())
                .collect(Collectors.toMap(w -> w[2], w -> Long.parseLong(w[0], 16), (a, _) -> a));
    }

    /** What nobody can read is left out of an answer. */
    private static void compare(
            String what, Map<String, String> truth, String answer, Kind kind, List<String> wrong) {
        Map<String, String> said = new HashMap<>();
        Matcher pair = PAIR.matcher(answer);
        while (pair.find()) {
            said.put(pair.group(1), pair.group(2));
        }
        boolean needed = what.endsWith("trace");
        for (String name : List.of("k", "a")) {
            String right = truth.getOrDefault(name, "?");
            String here = said.getOrDefault(name, "");
            boolean lacks =
                    here.isEmpty()
                            && needed
                            && (name.equals("k") || !kind.numbers().isEmpty())
                            && !what.startsWith("give");
            if (!right.equals("?") && (lacks || !here.isEmpty() && !here.equals(right))) {
                wrong.add(what + ": " + name + " is " + right + ", not '" + answer.strip() + "'");
            }
        }
    }

    private static String traced(List<EntryArgument> arguments) {
        StringBuilder text = new StringBuilder();
        for (EntryArgument one : arguments) {
            String place =
                    switch (one.place()) {
                        case REGISTER, REGISTERS -> "r" + one.at();
                        case REFERENCE -> "m" + one.at();
                        case STACK -> "s" + one.at();
                        case NOWHERE -> "";
                    };
            text.append(place.isEmpty() ? "" : " " + one.name() + "=" + place);
        }
        return text.toString();
    }

    /** The variables of a function where probe reads them at its entry. */
    private static String probed(Path program, String name) throws Exception {
        StringBuilder text = new StringBuilder();
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            for (VariableView view : VariableView.of(subject, name)) {
                for (ViewedVariable row : view.rows()) {
                    boolean here = row.isAvailable() && view.code().equals(name);
                    String place = here ? place(row.where()) : "";
                    text.append(place.isEmpty() ? "" : " " + row.name() + "=" + place);
                }
            }
        }
        return text.toString();
    }

    private static String place(String where) {
        Matcher first = Pattern.compile("(?:\\+?(\\d+)\\()?%(\\w+)\\)?(,.*)?").matcher(where);
        if (!first.matches()) {
            return "";
        }
        int index = REGISTERS.indexOf(first.group(2));
        String offset = first.group(1);
        return index < 0
                ? first.group(2).equals("sp") && offset != null ? "s" + offset : ""
                : (offset == null ? "r" : "m") + index;
    }

    private static void layout(
            Kind kind, Map<String, String> truth, DwarfTypes types, List<String> wrong) {
        if (!(types.type(TypeSyntax.Kind.STRUCT, kind.name()) instanceof StructType struct)) {
            wrong.add(kind.name() + ": trace knows no such type");
            return;
        }
        Function<String, String> said =
                path -> {
                    long offset = 0;
                    CompositeType in = struct;
                    TypeField field = null;
                    for (String word : path.split("\\.")) {
                        field = in.field(word);
                        if (field == null) {
                            return "none";
                        }
                        offset += field.bitOffset() / 8;
                        in = field.type() instanceof CompositeType inner ? inner : struct;
                    }
                    return offset + ":" + field.type().sizeBytes();
                };
        for (String field : kind.fields()) {
            if (!said.apply(field).equals(truth.get(field))) {
                wrong.add(
                        "trace: %s.%s is %s, not %s"
                                .formatted(
                                        kind.name(), field, truth.get(field), said.apply(field)));
            }
        }
        if (!truth.get("size").equals("" + struct.sizeBytes())) {
            wrong.add("trace: size of " + kind.name() + " is not " + struct.sizeBytes());
        }
    }

    private static void elf(
            Path program,
            List<Kind> kinds,
            Map<String, Map<String, String>> truth,
            List<String> wrong)
            throws Exception {
        for (Kind kind : kinds) {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            ElfRequest request =
                    new ElfRequest(
                            Set.of(),
                            "",
                            List.of(),
                            List.of("struct " + kind.name()),
                            List.of(),
                            "",
                            Optional.empty());
            Result page = new ElfRecipe(program, request, _ -> {}).result(false);
            new TextRenderer().render(page, text, TerminalStyle.PLAIN);
            Map<String, String> said = truth.get("layout " + kind.name());
            for (String field : kind.fields()) {
                String[] numbers = said.get(field).split(":");
                String last = field.replaceFirst(".*\\.", "");
                String line =
                        "(?s).*\\b%s[\\[;][^\\n]*/\\* +%s +%s \\*/.*"
                                .formatted(last, numbers[0], numbers[1]);
                boolean own = !field.contains(".") && !kind.definition().contains(" : ");
                if (own && !text.toString().matches(line)) {
                    wrong.add(
                            "elf: "
                                    + kind.name()
                                    + "."
                                    + field
                                    + " is not in "
                                    + text.toString().replace("\n", "¶"));
                }
            }
            if (!text.toString().contains("size: " + said.get("size"))) {
                wrong.add(
                        "elf: size of "
                                + kind.name()
                                + " is not in "
                                + text.toString().replace("\n", "¶"));
            }
        }
    }
}
