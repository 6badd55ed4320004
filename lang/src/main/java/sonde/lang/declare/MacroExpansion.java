package sonde.lang.declare;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.declare.CToken.Kind;

/** Macros and their expansion (C17, 6.10.3). */
final class MacroExpansion {
    private static final int MOST_DEPTH = 48;

    /**
     * A macro.
     *
     * @param parameters null for one without parentheses
     * @param variadic whether the last parameter takes the rest
     * @param builtIn whether it was there before the first line
     */
    record CMacro(
            String name,
            @Nullable List<String> parameters,
            boolean variadic,
            List<CToken> body,
            boolean builtIn) {}

    private final Map<String, CMacro> all = new LinkedHashMap<>();
    private int budget;

    /**
     * @param budget words that may be made by expansion, all in all
     */
    MacroExpansion(int budget) {
        this.budget = budget;
    }

    void define(CMacro macro) {
        all.put(macro.name(), macro);
    }

    void remove(String name) {
        all.remove(name);
    }

    @Nullable CMacro find(String name) {
        return all.get(name);
    }

    Collection<CMacro> all() {
        return all.values();
    }

    /** Whether so much was made that no more will be. */
    boolean isSpent() {
        return budget <= 0;
    }

    /** Words with all macros in them expanded; the rest as it stands once too much was made. */
    List<CToken> expand(List<CToken> tokens) {
        return expand(tokens, new HashMap<>(), 0);
    }

    private List<CToken> expand(List<CToken> tokens, Map<String, Integer> hidden, int depth) {
        Deque<CToken> left = new ArrayDeque<>(tokens);
        List<CToken> out = new ArrayList<>(tokens.size());
        while (!left.isEmpty()) {
            CToken token = left.removeFirst();
            if (token.kind() == Kind.MACRO_END) {
                hidden.merge(token.text(), -1, Integer::sum);
                continue;
            }
            CMacro macro = token.kind() == Kind.WORD ? all.get(token.text()) : null;
            if (macro == null
                    || hidden.getOrDefault(macro.name(), 0) > 0
                    || budget <= 0
                    || depth > MOST_DEPTH) {
                out.add(token);
                continue;
            }
            if (macro.parameters() == null) {
                push(left, token, macro, macro.body(), hidden);
                continue;
            }
            List<List<CToken>> arguments = arguments(left, macro, hidden);
            if (arguments == null) {
                out.add(token);
            } else {
                List<CToken> body = substitute(macro, arguments, hidden, depth);
                push(left, token, macro, body, hidden);
            }
        }
        return out;
    }

    private void push(
            Deque<CToken> left,
            CToken call,
            CMacro macro,
            List<CToken> body,
            Map<String, Integer> hidden) {
        budget -= body.size() + 1;
        hidden.merge(macro.name(), 1, Integer::sum);
        left.addFirst(call.as(Kind.MACRO_END, macro.name()));
        for (int i = body.size() - 1; i >= 0; i--) {
            left.addFirst(body.get(i).at(call));
        }
    }

    /** The arguments in parentheses that follow; null, with nothing taken, when none do. */
    private static @Nullable List<List<CToken>> arguments(
            Deque<CToken> left, CMacro macro, Map<String, Integer> hidden) {
        List<CToken> taken = new ArrayList<>();
        List<List<CToken>> arguments = new ArrayList<>();
        List<CToken> one = new ArrayList<>();
        List<String> parameters = macro.parameters() == null ? List.of() : macro.parameters();
        int open = 0;
        while (!left.isEmpty()) {
            CToken token = left.removeFirst();
            taken.add(token);
            if (token.kind() == Kind.MACRO_END) {
                continue;
            }
            if (open == 0 && !token.is("(")) {
                break;
            }
            boolean rest = macro.variadic() && arguments.size() == parameters.size() - 1;
            if (token.is("(") && open++ == 0) {
                continue;
            }
            if (token.is(")") && --open == 0) {
                arguments.add(one);
                for (CToken end : taken) {
                    if (end.kind() == Kind.MACRO_END) {
                        hidden.merge(end.text(), -1, Integer::sum);
                    }
                }
                return arguments;
            }
            if (token.is(",") && open == 1 && !rest) {
                arguments.add(one);
                one = new ArrayList<>();
            } else {
                one.add(token);
            }
        }
        for (int i = taken.size() - 1; i >= 0; i--) {
            left.addFirst(taken.get(i));
        }
        return null;
    }

    private List<CToken> substitute(
            CMacro macro, List<List<CToken>> arguments, Map<String, Integer> hidden, int depth) {
        List<CToken> body = macro.body();
        List<CToken> out = new ArrayList<>();
        for (int i = 0; i < body.size() && budget > 0; i++) {
            CToken token = body.get(i);
            boolean pastes = i + 1 < body.size() && body.get(i + 1).is("##");
            boolean pasted = i > 0 && body.get(i - 1).is("##");
            if (token.is("#") && i + 1 < body.size()) {
                List<CToken> argument = argument(macro, arguments, body.get(i + 1));
                if (argument != null) {
                    out.add(token.as(Kind.STRING, quoted(argument)));
                    i++;
                    continue;
                }
            }
            if (token.is("##")) {
                continue;
            }
            List<CToken> argument = argument(macro, arguments, token);
            List<CToken> words =
                    argument == null
                            ? List.of(token)
                            : pastes || pasted
                                    ? argument
                                    : expand(argument, new HashMap<>(hidden), depth + 1);
            budget -= words.size();
            int from = 0;
            if (pasted && !out.isEmpty() && !words.isEmpty()) {
                CToken left = out.removeLast();
                String text = left.text() + words.getFirst().text();
                out.add(left.as(left.kind(), text.length() > 4096 ? left.text() : text));
                from = 1;
            }
            out.addAll(words.subList(from, words.size()));
        }
        return out;
    }

    private static @Nullable List<CToken> argument(
            CMacro macro, List<List<CToken>> arguments, CToken token) {
        List<String> parameters = macro.parameters();
        int index =
                parameters == null || token.kind() != Kind.WORD
                        ? -1
                        : parameters.indexOf(token.text());
        if (index < 0) {
            return null;
        }
        return index < arguments.size() ? arguments.get(index) : List.of();
    }

    private static String quoted(List<CToken> tokens) {
        String text = text(tokens).replace("\\", "\\\\").replace("\"", "\\\"");
        return "\"" + text + "\"";
    }

    /** Words as one would write them. */
    static String text(List<CToken> tokens) {
        StringBuilder out = new StringBuilder();
        for (CToken token : tokens) {
            out.append(token.spaced() && !out.isEmpty() ? " " : "").append(token.text());
            if (out.length() > 1 << 16) {
                break;
            }
        }
        return out.toString();
    }
}
