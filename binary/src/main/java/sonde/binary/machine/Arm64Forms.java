package sonde.binary.machine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sonde.sys.ResourceTable;

/** The encodings of arm64 and the names of its system registers, from {@code arm64.txt}. */
final class Arm64Forms {
    /**
     * @param condition name of a condition on the fields; empty without one
     */
    record Arm64Form(
            int value,
            int mask,
            String mnemonic,
            String[] operands,
            String condition,
            MachineFlow flow) {}

    private static final Arm64Form[][] BUCKETS = new Arm64Form[2048][];
    private static final Map<String, Map<Integer, String>> NAMES = new HashMap<>();

    static {
        load();
    }

    private Arm64Forms() {}

    /** The forms whose first eleven bits fit. */
    static Arm64Form[] of(int word) {
        return BUCKETS[word >>> 21];
    }

    static @Nullable String name(String table, int number) {
        return Objects.requireNonNull(NAMES.get(table)).get(number);
    }

    private static void load() {
        List<Arm64Form> forms = new ArrayList<>(1500);
        Map<Integer, String> names = new HashMap<>();
        boolean named = false;
        for (String line : ResourceTable.lines(Arm64Forms.class.getResourceAsStream("arm64.txt"))) {
            if (line.startsWith("=")) {
                names = new HashMap<>(2048);
                NAMES.put(line.substring(2), names);
                named = true;
            } else if (named) {
                int space = line.indexOf(' ');
                names.put(
                        Integer.parseInt(line.substring(0, space), 16), line.substring(space + 1));
            } else {
                forms.add(form(line.split(" ")));
            }
        }
        for (int i = 0; i < BUCKETS.length; i++) {
            int high = i << 21;
            BUCKETS[i] =
                    forms.stream()
                            .filter(form -> ((form.value ^ high) & form.mask & -1 << 21) == 0)
                            .toArray(Arm64Form[]::new);
        }
    }

    private static Arm64Form form(String[] words) {
        String name = words[2];
        return new Arm64Form(
                Integer.parseUnsignedInt(words[0], 16),
                Integer.parseUnsignedInt(words[1], 16),
                name,
                words[3].equals("-") ? new String[0] : words[3].split(","),
                words.length > 4 ? words[4] : "",
                flow(name));
    }

    private static MachineFlow flow(String name) {
        return switch (name) {
            case "b", "br", "braa", "brab", "braaz", "brabz" -> MachineFlow.JUMP;
            case "bl", "blr", "blraa", "blrab", "blraaz", "blrabz" -> MachineFlow.CALL;
            case "ret", "retaa", "retab", "eret", "eretaa", "eretab", "drps" -> MachineFlow.RETURN;
            case "cbz", "cbnz", "tbz", "tbnz", "b.C", "bc.C" -> MachineFlow.BRANCH;
            case "brk", "hlt", "udf" -> MachineFlow.TRAP;
            default -> MachineFlow.NEXT;
        };
    }
}
