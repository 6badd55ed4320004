package sonde.tools.explain;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Sentences that follow from several lines of a report: owners, locks, registers, bytes of code.
 */
final class IncidentDetails {
    private static final int CODE_BEFORE = 8;
    private static final int CODE_BEHIND = 16;

    private static final Pattern REGISTER =
            Pattern.compile(
                    "\\b(R[A-D]X|R[SD]I|RBP|R\\d\\d|R0\\d|x\\d{1,2}|r\\d{1,2}) ?: ?"
                            + "([0-9a-f]{8,16})\\b");

    private static final LinePattern JUMP = new LinePattern("^RIP: 0010:0x(?<to>[0-9a-f]{1,16})$");

    private static final int FEWEST_CALLS = 4;
    private static final int MOST_RECURSIVE = 3;

    private static final LinePattern OOPS =
            new LinePattern("^Oops: (?<code>[0-9a-f]{4}) \\[#\\d+\\]");

    private final BlameRules rules;
    private final LockGraph locks;

    IncidentDetails(BlameRules rules, LockGraph locks) {
        this.rules = rules;
        this.locks = locks;
    }

    List<String> of(
            IncidentKind kind,
            Map<String, String> fields,
            List<LogStack> stacks,
            List<LogLine> lines,
            @Nullable FaultCode code) {
        List<String> details = new ArrayList<>();
        if (kind.name().equals("oom-kill")) {
            details.addAll(OomDetails.of(lines).sentences());
            details.addAll(TaskDump.zones(lines));
        } else if (kind.has("dump")) {
            details.addAll(TaskDump.of(lines, rules));
        }
        if (kind.has("stall") || kind.name().endsWith("-lockup")) {
            details.addAll(StallDetails.of(lines, rules));
        }
        owners(stacks, details);
        if (kind.name().contains("stack")) {
            recursion(stacks, details);
        }
        jump(lines, stacks, details);
        details.addAll(locks.sentences(fields, lines));
        if (code != null) {
            details.add(code.detail());
        }
        List<String> arm = ArmFault.of(fields, lines);
        details.addAll(arm);
        if (arm.isEmpty()) {
            registers(code == null ? fields : Map.of(), lines, details);
        }
        for (LogLine line : lines) {
            Matcher oops = OOPS.match(line.text());
            if (oops != null && fields.containsKey("address")) {
                details.add(pageFault(Integer.parseInt(oops.group("code"), 16)));
                break;
            }
        }
        boolean isUser = code != null;
        for (LogLine line : lines) {
            isUser =
                    code != null
                            || (line.text().contains("RIP: ")
                                    ? line.text().contains("0033:")
                                    : isUser);
            if (!isUser && line.text().startsWith("Code: ") && line.text().indexOf('<') > 0) {
                details.add(code(line.text()));
                break;
            }
        }
        return details;
    }

    /** Functions that are on the stack several times, the most frequent first. */
    private static void recursion(List<LogStack> stacks, List<String> details) {
        for (LogStack stack : stacks) {
            Map<String, Integer> counts = new LinkedHashMap<>();
            Map<String, LogFrame> frames = new LinkedHashMap<>();
            for (LogFrame frame : LogFrame.sure(stack.frames())) {
                counts.merge(frame.function(), 1, Integer::sum);
                frames.putIfAbsent(frame.function(), frame);
            }
            counts.entrySet().stream()
                    .filter(one -> one.getValue() >= FEWEST_CALLS)
                    .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                    .limit(MOST_RECURSIVE)
                    .forEach(one -> {
                        LogFrame frame = frames.get(one.getKey());
                        details.add(
                                (frame == null ? one.getKey() : frame.shown())
                                        + " is on the stack "
                                        + one.getValue()
                                        + " times: it calls itself");
                    });
            if (!counts.isEmpty()) {
                return;
            }
        }
    }

    /** Where the processor was sent to an address without code, and what may have sent it there. */
    private static void jump(List<LogLine> lines, List<LogStack> stacks, List<String> details) {
        for (LogLine line : lines) {
            Matcher at = JUMP.match(line.text());
            if (at == null) {
                continue;
            }
            String value = "0".repeat(16 - at.group("to").length()) + at.group("to");
            String meaning = meaning(value, true);
            String caller =
                    stacks.isEmpty() || stacks.getFirst().frames().isEmpty()
                            ? ""
                            : "; the innermost frame is "
                                    + stacks.getFirst().frames().getFirst().shown();
            details.add(
                    "a call or jump went to 0x"
                            + value
                            + ", where no function is"
                            + (meaning.isEmpty() ? "" : ": " + meaning)
                            + caller);
            return;
        }
    }

    /** Who allocated and freed the object. */
    private void owners(List<LogStack> stacks, List<String> details) {
        for (LogStack stack : stacks) {
            String heading = stack.heading().toLowerCase(Locale.ROOT);
            boolean isOwner =
                    heading.startsWith("allocated")
                            || heading.startsWith("freed")
                            || heading.startsWith("last potentially")
                            || heading.startsWith("uninit was");
            if (!isOwner) {
                continue;
            }
            for (LogFrame frame : LogFrame.sure(stack.frames())) {
                if (rules.skips(frame.function(), Set.of("alloc", "free", "leak", "page"))
                        .isEmpty()) {
                    details.add(heading.replaceAll(" at$", "") + " in " + frame.shown());
                    break;
                }
            }
        }
    }

    /** Registers whose values have a meaning of their own. */
    private static void registers(
            Map<String, String> fields, List<LogLine> lines, List<String> details) {
        String address = fields.getOrDefault("address", "");
        boolean nearNull = address.matches("(?:0x)?0{4,13}[0-9a-f]{3}|(?:0x)?0+");
        Map<String, String> known = new LinkedHashMap<>();
        for (LogLine line : lines) {
            boolean may = line.text().indexOf(':') > 0 && !line.text().contains("+0x");
            Matcher register = may ? REGISTER.matcher(line.text()) : null;
            while (register != null && register.find()) {
                String meaning = meaning(register.group(2), nearNull);
                if (!meaning.isEmpty()) {
                    known.putIfAbsent(register.group(1), meaning);
                }
            }
            if (line.text().startsWith("Call ")
                    || line.text().startsWith("Backtrace")
                    || line.text().startsWith("Stack: ")
                    || line.text().startsWith("---[ end")) {
                break;
            }
        }
        known.forEach((name, meaning) -> details.add(name + " is " + meaning));
    }

    /** include/linux/poison.h and err.h. */
    static String meaning(String value, boolean nearNull) {
        return switch (value) {
            case "dead000000000100", "00000100" ->
                    value.length() < 9 ? "" : "LIST_POISON1: the entry was deleted from its list";
            case "dead000000000122" -> "LIST_POISON2: the entry was deleted from its list";
            case "6b6b6b6b6b6b6b6b", "6b6b6b6b" -> "POISON_FREE: from freed memory of the slab";
            case "5a5a5a5a5a5a5a5a", "5a5a5a5a" ->
                    "POISON_INUSE: from memory that was never written";
            case "0000000000000000", "00000000" -> nearNull ? "NULL" : "";
            default -> {
                boolean mayBeError = value.length() == 16 && value.startsWith("fffffffffffff");
                long number = mayBeError ? Long.parseUnsignedLong(value, 16) : 0;
                yield number < -1 && number >= -133 ? "the error " + number + " as a pointer" : "";
            }
        };
    }

    /** Bits of the error code: arch/x86/include/asm/trap_pf.h. */
    private static String pageFault(int code) {
        String access =
                (code & 16) != 0 ? "fetch of an instruction" : (code & 2) != 0 ? "write" : "read";
        return "page fault: "
                + access
                + ((code & 4) != 0 ? " from user mode" : " from the kernel")
                + ((code & 1) != 0 ? ", which the page forbids" : ", and no page is there");
    }

    /** The bytes around the instruction that failed. */
    private static String code(String text) {
        String[] bytes = text.substring("Code: ".length()).strip().split(" +");
        int marked = 0;
        while (marked < bytes.length - 1 && !bytes[marked].startsWith("<")) {
            marked++;
        }
        int from = Math.max(0, marked - CODE_BEFORE);
        int to = Math.min(bytes.length, marked + CODE_BEHIND);
        StringBuilder shown = new StringBuilder("bytes of the instruction at <>:");
        for (int i = from; i < to; i++) {
            shown.append(' ').append(bytes[i]);
        }
        return shown.toString();
    }
}
