package sonde.tools.explain;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The load or store that failed in a report of 32-bit Arm, and what the kernel knows of registers.
 */
final class ArmFault {
    private static final Pattern REGISTER =
            Pattern.compile(
                    "\\b(?<name>r\\d{1,2}|sp|ip|fp|lr|pc) ?: ?\\[?<?(?<value>[0-9a-f]{8})\\b");

    /** arch/arm/kernel/process.c, since Linux 5.12. */
    private static final Pattern NOTE =
            Pattern.compile("^Register (?<name>r\\d{1,2}) information: +(?<note>.{1,200})");

    private static final Pattern CODE =
            Pattern.compile("^Code: [0-9a-f ]{0,100}\\((?<word>[0-9a-f]{8})\\)");

    private static final List<String> NAMES =
            List.of(
                    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip",
                    "sp", "lr", "pc");

    private final Map<String, Long> registers = new HashMap<>();
    private final Map<String, String> notes = new LinkedHashMap<>();
    private final long fault;
    private String word = "";

    private ArmFault(List<LogLine> lines, long fault) {
        this.fault = fault;
        boolean isStack = false;
        for (LogLine line : lines) {
            String text = line.text();
            isStack |=
                    text.startsWith("Stack: ")
                            || LogStack.heading(text) != null
                                    && !text.startsWith("CPU: ")
                                    && !text.startsWith("Workqueue: ");
            Matcher note = NOTE.matcher(text);
            Matcher code = CODE.matcher(text);
            if (note.lookingAt()) {
                notes.putIfAbsent(alias(note.group("name")), note.group("note").strip());
            } else if (word.isEmpty() && code.lookingAt()) {
                word = code.group("word");
            }
            Matcher register = REGISTER.matcher(text);
            while (!isStack && register.find()) {
                registers.putIfAbsent(
                        alias(register.group("name")), Long.parseLong(register.group("value"), 16));
            }
        }
    }

    private static String alias(String name) {
        return switch (name) {
            case "r11" -> "fp";
            case "r12" -> "ip";
            default -> name;
        };
    }

    /** Sentences; none for a report of another machine. */
    static List<String> of(Map<String, String> fields, List<LogLine> lines) {
        boolean isArm = lines.stream().anyMatch(line -> line.text().startsWith("pc : [<"));
        String address = fields.getOrDefault("address", "").replaceFirst("^0x", "");
        boolean isKnown = address.matches("[0-9a-f]{1,8}");
        long fault = isKnown ? Long.parseLong(address, 16) : -1;
        return isArm ? new ArmFault(lines, fault).sentences() : List.of();
    }

    private List<String> sentences() {
        List<String> sentences = new ArrayList<>();
        String base = "";
        if (!word.isEmpty()) {
            int bits = (int) Long.parseLong(word, 16);
            base = NAMES.get(bits >> 16 & 15);
            String access = access(bits, base);
            base = access.isEmpty() ? "" : base;
            sentences.add("the instruction is 0x" + word + access);
        }
        for (Map.Entry<String, String> note : notes.entrySet()) {
            boolean isObject = note.getValue().startsWith("slab") || note.getKey().equals(base);
            if (isObject) {
                sentences.add(note.getKey() + ": " + note.getValue());
            }
        }
        return sentences;
    }

    /** Loads and stores of one register: Arm Architecture Reference Manual, A5.3 and A5.2.8. */
    private String access(int bits, String base) {
        boolean isLoad = (bits & 1 << 20) != 0;
        int kind = bits >> 25 & 7;
        long offset;
        String size;
        String index = "";
        if (kind == 2 || kind == 3 && (bits & 16) == 0) {
            size = (bits & 1 << 22) != 0 ? "1 byte" : "4 bytes";
            index = kind == 3 ? NAMES.get(bits & 15) : "";
            boolean isShifted = kind == 3 && (bits >> 5 & 3) != 0;
            if (isShifted) {
                return "";
            }
            offset =
                    kind == 3
                            ? (registers.getOrDefault(index, 0L) << (bits >> 7 & 31))
                            : bits & 0xfff;
        } else if (kind == 0
                && (bits & 0x90) == 0x90
                && (bits & 0x60) != 0
                && (bits & 1 << 22) != 0) {
            int op = bits >> 5 & 3;
            size = op == 1 || isLoad && op == 3 ? "2 bytes" : isLoad ? "1 byte" : "8 bytes";
            isLoad |= op == 2;
            offset = bits >> 4 & 0xf0 | bits & 15;
        } else {
            return "";
        }
        boolean isBefore = (bits & 1 << 24) != 0;
        long signed = !isBefore ? 0 : (bits & 1 << 23) != 0 ? offset : -offset;
        Long start = registers.get(base);
        boolean isKnown = start != null && (index.isEmpty() || registers.containsKey(index));
        long address = start != null && isKnown ? start + signed & 0xffff_ffffL : fault;
        if (fault >= 0 && Math.abs(address - fault) >= Long.BYTES) {
            return ""; // the report is of another place than its registers
        }
        String at = isKnown ? " at 0x%x".formatted(address) : " at an address that is not known";
        String by = index.isEmpty() ? "0x%x".formatted(signed) : index;
        return ": it %s %s%s, %s + %s; %s = %s"
                .formatted(
                        isLoad ? "reads" : "writes",
                        size,
                        at,
                        base,
                        by,
                        base,
                        start == null ? "?" : start == 0 ? "0 (NULL)" : "0x%x".formatted(start));
    }
}
