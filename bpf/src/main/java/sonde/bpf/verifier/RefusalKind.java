package sonde.bpf.verifier;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.sys.ResourceTable;

/**
 * A kind of refusal: the verifier's messages that mean it, and what to say. All of them stand in
 * {@code causes.txt}.
 *
 * @param id {@code "null-pointer"}
 * @param messages patterns that match at the beginning of a line
 * @param sentence why, with names of groups in braces
 * @param remedy what usually helps, likewise
 * @param place how to find the instruction where the log has come to none
 */
record RefusalKind(
        String id, List<Pattern> messages, String sentence, String remedy, FaultPlace place) {
    /** Where the fault is when the verifier had not begun to walk. */
    enum FaultPlace {
        /** Where the log ends, or the group {@code insn} says. */
        LOG,
        /** The first instruction with the opcode that the group {@code opcode} says. */
        OPCODE,
        /** The last instruction. */
        LAST,
        /** The first instruction that names the map of the group {@code fd}, or any. */
        MAP,
        /** The first word that is not an instruction. */
        UNKNOWN,
        /** The first call of the kernel function of the group {@code id}. */
        KERNEL_CALL,
        /** The first call that leads out of the program. */
        LOCAL_CALL,
        /** The first instruction that takes the address of a subprogram. */
        FUNCTION,
        /** The first jump to the slot behind the group {@code to}. */
        JUMP,
        /** Nowhere in particular. */
        NOWHERE
    }

    /**
     * A message and the cause it means.
     *
     * @param ended the call that made a number of the pointer in question; empty for none
     */
    record MessageMatch(RefusalKind cause, Matcher matcher, String message, String ended) {
        /** The same message, whose cause is a call before. */
        MessageMatch as(String id, String call) {
            RefusalKind kind =
                    ALL.stream().filter(one -> one.id.equals(id)).findFirst().orElseThrow();
            return new MessageMatch(kind, matcher, message, call);
        }

        /** What a group matched; null when it is not there or did not match. */
        @Nullable String group(String name) {
            return matcher.namedGroups().containsKey(name) ? matcher.group(name) : null;
        }

        /** A group as a number; -1 without one. */
        int number(String name) {
            String digits = group(name);
            return digits != null && digits.matches("[0-9]{1,9}") ? Integer.parseInt(digits) : -1;
        }
    }

    private static final List<RefusalKind> ALL = read();

    /** Every kind, the special before the general. */
    static List<RefusalKind> all() {
        return ALL;
    }

    /** The first kind that one of the lines means; null when none does. */
    static @Nullable MessageMatch of(List<String> lines) {
        for (RefusalKind cause : ALL) {
            for (Pattern pattern : cause.messages) {
                for (String line : lines) {
                    Matcher matcher = pattern.matcher(line);
                    if (matcher.lookingAt()) {
                        return new MessageMatch(cause, matcher, line, "");
                    }
                }
            }
        }
        return null;
    }

    private static List<RefusalKind> read() {
        List<RefusalKind> all = new ArrayList<>();
        List<String> block = new ArrayList<>();
        List<String> lines =
                ResourceTable.lines(RefusalKind.class.getResourceAsStream("causes.txt"));
        lines.add("[end]");
        for (String line : lines) {
            if (line.charAt(0) == '[' && !block.isEmpty()) {
                all.add(of(block.getFirst(), block.subList(1, block.size())));
                block.clear();
            }
            block.add(line);
        }
        return List.copyOf(all);
    }

    private static RefusalKind of(String head, List<String> lines) {
        List<Pattern> messages = new ArrayList<>();
        String sentence = "";
        String remedy = "";
        FaultPlace place = FaultPlace.LOG;
        for (String line : lines) {
            int colon = line.indexOf(": ");
            String value = line.substring(colon + 2);
            switch (line.substring(0, colon)) {
                case "match" -> messages.add(Pattern.compile(value));
                case "cause" -> sentence = value;
                case "fix" -> remedy = value;
                case "place" -> place = FaultPlace.valueOf(value);
                default -> throw new IllegalStateException("causes.txt: " + line);
            }
        }
        String id = head.substring(1, head.length() - 1);
        return new RefusalKind(id, List.copyOf(messages), sentence, remedy, place);
    }
}
