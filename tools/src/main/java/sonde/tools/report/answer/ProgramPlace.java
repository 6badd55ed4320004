package sonde.tools.report.answer;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Where in a program something happened.
 *
 * @param function the innermost function of the program; of a library or runtime where the chain
 *     has none of the program, empty where it has no user part
 * @param module the file of its code
 * @param callers the program's functions that called it, nearest first
 * @param own whether the function is the program's
 */
public record ProgramPlace(String function, String module, List<String> callers, boolean own) {
    /** Nothing is known. */
    public static final ProgramPlace UNKNOWN = new ProgramPlace("", "", List.of(), false);

    private static final int SHOWN = 2;
    private static final Pattern JAVA_LINE = Pattern.compile(" \\(\\w+\\.(java|kt|scala):\\d+\\)$");

    public ProgramPlace {
        callers = List.copyOf(callers);
    }

    /** {@code journal_commit ← handle_request}. */
    public String chain() {
        StringBuilder chain = new StringBuilder(function);
        callers.stream().limit(SHOWN).forEach(caller -> chain.append(" ← ").append(caller));
        return chain.toString();
    }

    /** {@link #chain} from its first function that has a name; empty if none has one. */
    String named() {
        return isNamed()
                ? chain()
                : callers.stream().limit(SHOWN).collect(Collectors.joining(" ← "));
    }

    /** Whether the function has a name, not only an address or a module. */
    boolean isNamed() {
        return !function.isEmpty() && !function.startsWith("[");
    }

    /** The function alone, whoever called it, at whichever of its lines a JVM was. */
    ProgramPlace withoutCallers() {
        String name = JAVA_LINE.matcher(function).replaceFirst("");
        return new ProgramPlace(name, module, List.of(), own);
    }

    /** With its line, or with its callers, or without. */
    ProgramPlace of(boolean line, boolean called) {
        ProgramPlace plain = withoutCallers();
        String name = line ? function : plain.function;
        return new ProgramPlace(name, module, called ? callers : List.of(), own);
    }

    /** {@code journal_commit, called from handle_request}. */
    String phrase() {
        return callers.isEmpty() ? function : function + ", called from " + callers.getFirst();
    }
}
