package sonde.bpf.skeleton;

import java.util.Set;

/** Names of an object as names of Java. */
final class JavaNames {
    /** JLS 3.9, and literals; and what every object has. */
    private static final Set<String> TAKEN =
            Set.of(
                    ("abstract assert boolean break byte case catch char class const continue"
                                    + " default do double else enum extends final finally float"
                                    + " for goto if implements import instanceof int interface"
                                    + " long native new package private protected public return"
                                    + " short static strictfp super switch synchronized this"
                                    + " throw throws transient try void volatile while true false"
                                    + " null hashCode toString clone finalize notify notifyAll"
                                    + " wait getClass segment of equals")
                            .split(" ", -1));

    private JavaNames() {}

    private static String letters(String name) {
        StringBuilder out = new StringBuilder();
        for (char c : name.toCharArray()) {
            boolean plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
            out.append(plain ? c : '_');
        }
        return out.toString();
    }

    private static String camel(String name, boolean upper) {
        StringBuilder out = new StringBuilder();
        boolean next = upper;
        for (char c : letters(name).toCharArray()) {
            if (c == '_') {
                next |= !out.isEmpty();
            } else {
                out.append(next ? Character.toUpperCase(c) : c);
                next = false;
            }
        }
        String text = out.toString();
        return text.isEmpty() || Character.isDigit(text.charAt(0)) ? "x" + text : text;
    }

    /** {@code "next_pid"} gives {@code "nextPid"}. */
    static String member(String name) {
        String text = camel(name, false);
        return TAKEN.contains(text) ? text + "_" : text;
    }

    /** {@code "switch_event"} gives {@code "SwitchEvent"}. */
    static String type(String name) {
        String text = camel(name, true);
        return Character.isUpperCase(text.charAt(0)) ? text : "X" + text;
    }

    /** With a number behind where it is taken. */
    static String unique(Set<String> taken, String name) {
        String one = name;
        for (int i = 2; taken.contains(one); i++) {
            one = name + i;
        }
        return one;
    }
}
