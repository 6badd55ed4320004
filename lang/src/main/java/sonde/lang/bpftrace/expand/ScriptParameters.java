package sonde.lang.bpftrace.expand;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Script;

/**
 * What a script is given on the command line.
 *
 * @param positional {@code $1} first
 * @param named the options behind {@code --}; null for one without {@code =value}
 */
public record ScriptParameters(List<String> positional, Map<String, @Nullable String> named) {
    private static final BigInteger UNSIGNED_LIMIT = BigInteger.ONE.shiftLeft(64);
    private static final BigInteger LEAST = BigInteger.ONE.shiftLeft(63).negate();
    private static final BigInteger MOST = BigInteger.ONE.shiftLeft(63).subtract(BigInteger.ONE);

    /** A script that is given nothing. */
    public static final ScriptParameters NONE = new ScriptParameters(List.of(), Map.of());

    /** Keeps copies. */
    public ScriptParameters {
        positional = List.copyOf(positional);
        named = new LinkedHashMap<>(named);
    }

    /**
     * Something wrong with the options given; bpftrace's words, without a place in the script.
     *
     * @param hint empty for none
     */
    public record Problem(String message, String hint) {}

    /**
     * From words of a command line. Up to {@code --} all are positional; behind it those are that
     * do not begin with {@code --}.
     */
    public static ScriptParameters of(List<String> words) {
        List<String> positional = new ArrayList<>();
        Map<String, @Nullable String> named = new LinkedHashMap<>();
        boolean behind = false;
        for (String word : words) {
            if (!behind && word.equals("--")) {
                behind = true;
            } else if (behind && word.startsWith("--")) {
                int equals = word.indexOf('=');
                String name = word.substring(2, equals < 0 ? word.length() : equals);
                named.put(name, equals < 0 ? null : word.substring(equals + 1));
            } else {
                positional.add(word);
            }
        }
        return new ScriptParameters(positional, named);
    }

    /**
     * The options of a script as far as its own text says them, macros included; those of its
     * imports are in {@link ScriptExpansion.ExpandedScript#options()}.
     */
    public static List<ScriptOption> options(Script script) {
        Map<String, ScriptOption> found = new LinkedHashMap<>();
        new TreeRewriter() {
            @Override
            protected Expression expression(Expression expression) {
                if (expression instanceof FunctionCall call && call.function().equals("getopt")) {
                    ScriptOption option = ParameterPass.option(call);
                    if (option != null) {
                        found.merge(option.name(), option, ParameterPass::better);
                    }
                }
                return super.expression(expression);
            }
        }.script(script);
        return List.copyOf(found.values());
    }

    /**
     * What is wrong with the options given. With {@code --help}, which no script has asked for, it
     * is a problem without a message whose hint lists the options.
     */
    public Optional<Problem> problem(List<ScriptOption> options) {
        Map<String, ScriptOption> known = new LinkedHashMap<>();
        options.forEach(option -> known.put(option.name(), option));
        List<String> unknown =
                named.keySet().stream().filter(name -> !known.containsKey(name)).toList();
        if (!unknown.isEmpty()) {
            String names =
                    unknown.stream()
                            .filter(name -> !name.equals("help"))
                            .map(name -> "--" + name)
                            .collect(Collectors.joining(", "));
            String message =
                    names.isEmpty() ? "" : "unexpected program command line options: " + names;
            return Optional.of(new Problem(message, help(options, unknown.contains("help"))));
        }
        return options.stream()
                .map(option -> invalid(option))
                .flatMap(Optional::stream)
                .findFirst()
                .map(message -> new Problem(message, ""));
    }

    private static String help(List<ScriptOption> options, boolean whole) {
        if (options.isEmpty()) {
            return "no custom program options defined.";
        }
        String separator = whole ? "\n" : ", ";
        return options.stream()
                .map(option ->
                        "--"
                                + option.name()
                                + (whole && !option.help().isEmpty() ? ": " + option.help() : ""))
                .collect(
                        Collectors.joining(
                                separator, "expected program options:" + (whole ? "\n" : " "), ""));
    }

    /** Why the value given for an option cannot be it. */
    Optional<String> invalid(ScriptOption option) {
        if (!named.containsKey(option.name())) {
            return Optional.empty();
        }
        String value = named.get(option.name());
        String why =
                switch (option.kind()) {
                    case BOOLEAN ->
                            value == null || truth(value) != null
                                    ? null
                                    : "expects a boolean (e.g. 'true')";
                    case STRING -> value == null ? "expects a string" : null;
                    case SIGNED, UNSIGNED ->
                            value == null
                                    ? "expects an integer"
                                    : whyNoInteger(
                                            value, option.kind() == ScriptOption.Kind.SIGNED);
                };
        return why == null
                ? Optional.empty()
                : Optional.of(
                        "program command line option --%s %s (value: %s)"
                                .formatted(option.name(), why, value == null ? "true" : value));
    }

    private static @Nullable String whyNoInteger(String value, boolean signed) {
        BigInteger read = NumberWords.parse(value);
        if (read == null || (read.signum() < 0 && !signed)) {
            return "invalid integer";
        }
        boolean fits =
                signed
                        ? read.compareTo(LEAST) >= 0 && read.compareTo(MOST) <= 0
                        : read.compareTo(UNSIGNED_LIMIT) < 0;
        return fits ? null : "value is out of range";
    }

    /**
     * The value of an option that is a number, or 0 or 1, as given or its default.
     *
     * @throws IllegalArgumentException for a text
     */
    public long number(ScriptOption option) {
        String value = value(option);
        return switch (option.kind()) {
            case BOOLEAN -> Boolean.TRUE.equals(truth(value)) ? 1 : 0;
            case SIGNED, UNSIGNED -> {
                BigInteger number = NumberWords.parse(value);
                yield number == null ? 0 : number.longValue();
            }
            case STRING -> throw new IllegalArgumentException(option.name() + " is a text");
        };
    }

    /** The value of an option: as given, or its default. */
    public String value(ScriptOption option) {
        if (!named.containsKey(option.name())) {
            return option.standard();
        }
        String given = named.get(option.name());
        return given == null ? "true" : given;
    }

    /** The truth that a word means; null for none. */
    static @Nullable Boolean truth(String word) {
        return switch (word.toLowerCase(Locale.ROOT)) {
            case "1", "true", "on", "yes" -> true;
            case "0", "false", "off", "no" -> false;
            default -> null;
        };
    }
}
