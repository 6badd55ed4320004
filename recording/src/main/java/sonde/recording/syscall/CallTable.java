package sonde.recording.syscall;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.ArgumentShape.ConstantNumber;
import sonde.recording.syscall.ArgumentShape.Inner;
import sonde.recording.syscall.ArgumentShape.LengthShape;
import sonde.recording.syscall.ArgumentShape.NumberForm;
import sonde.recording.syscall.ArgumentShape.PlainNumber;
import sonde.recording.syscall.ArgumentShape.PointerTo;
import sonde.recording.syscall.CallShape.CallArgument;
import sonde.recording.syscall.CallShape.ShownWhen;
import sonde.recording.syscall.TargetShape.Boxed;
import sonde.recording.syscall.TargetShape.Special;
import sonde.recording.syscall.TargetShape.SpecialForm;
import sonde.recording.syscall.TargetShape.StructField;
import sonde.recording.syscall.TargetShape.StructShape;
import sonde.sys.Arch;
import sonde.sys.ResourceTable;
import sonde.sys.SyscallNames;

/** The meaning of the arguments of system calls on x86-64: {@code calls.txt}. */
public final class CallTable {
    /** Numbers of calls are below this one, which stands for all that are not. */
    public static final int CALLS = 511;

    /** Calls of 32-bit programs have other numbers; theirs are counted from here. */
    static final long COMPAT_BASE = 1L << 32;

    private static final SyscallNames NAMES = SyscallNames.of(Arch.X86_64);
    private static final Map<String, NumberForm> NUMBERS = byName(NumberForm.values());
    private static final Map<String, SpecialForm> SPECIALS = byName(SpecialForm.values());

    private final Map<String, StructShape> structs = new HashMap<>();
    private final Map<String, List<String>> classes = new HashMap<>();
    private final Map<String, CallShape> byName = new HashMap<>();
    private final @Nullable CallShape[] byNumber = new CallShape[CALLS + 1];

    private CallTable(List<String> lines) {
        for (String line : lines) {
            String[] words = line.split(" ");
            if (words[0].equals("struct")) {
                structs.put(words[1], struct(words));
            } else if (words[0].equals("class")) {
                classes.put(words[1], List.of(words).subList(2, words.length));
            } else {
                call(words);
            }
        }
    }

    private static final class ReadOnce {
        static final CallTable TABLE =
                new CallTable(
                        ResourceTable.lines(CallTable.class.getResourceAsStream("calls.txt")));
    }

    /** The table; the first time it is read, which takes a JVM that starts some 15 ms. */
    public static CallTable read() {
        return ReadOnce.TABLE;
    }

    /** A table of such lines, for tests. */
    static CallTable of(String text) {
        return new CallTable(text.lines().toList());
    }

    private static <E extends Enum<E>> Map<String, E> byName(E[] all) {
        Map<String, E> names = HashMap.newHashMap(all.length);
        for (E one : all) {
            names.put(one.name().toLowerCase(Locale.ROOT), one);
        }
        return names;
    }

    /** The name of a call; {@code syscall_0x1f4} for one that is not known. */
    public static String name(long number) {
        if (number >= COMPAT_BASE) {
            return "i386_syscall_" + (number - COMPAT_BASE);
        }
        String known = NAMES.nameOf(number);
        return known.startsWith("syscall ") ? "syscall_0x" + Long.toHexString(number) : known;
    }

    /** What stands for a call of a 32-bit program. */
    public static long compat(int number) {
        return COMPAT_BASE + number;
    }

    /** The number of a call; -1 for a name that x86-64 does not have. */
    public static int number(String name) {
        return NAMES.numberOf(name);
    }

    /** The line for a call; null where the table has none. */
    @Nullable CallShape shape(long number, long[] arguments) {
        CallShape shape = number < 0 || number >= CALLS ? null : byNumber[(int) number];
        return shape == null ? null : shape.chosen(arguments);
    }

    /** The general line for a call. */
    @Nullable CallShape shape(int number) {
        return byNumber[number];
    }

    /** The numbers of all calls that the table has. */
    public int[] numbers() {
        return IntStream.range(0, CALLS).filter(number -> byNumber[number] != null).toArray();
    }

    /**
     * The calls of a class: {@code network}, {@code %stat}. Those of {@code file} take the name of
     * a file, those of {@code desc} take or return a descriptor.
     *
     * @return null for a class that there is not
     */
    public @Nullable BitSet ofClass(String name) {
        BitSet found = new BitSet();
        switch (name) {
            case "file" ->
                    byName.values().stream()
                            .filter(one ->
                                    one.arguments().stream().anyMatch(each -> isPath(each.shape())))
                            .forEach(one -> found.set(one.number()));
            case "desc" ->
                    byName.values().stream()
                            .filter(one ->
                                    isDescriptor(one.result())
                                            || one.arguments().stream()
                                                    .anyMatch(each -> hasDescriptor(each.shape())))
                            .forEach(one -> found.set(one.number()));
            default -> {
                List<String> calls = classes.get(name);
                if (calls == null) {
                    return null;
                }
                calls.stream().mapToInt(CallTable::number).filter(n -> n >= 0).forEach(found::set);
            }
        }
        return found;
    }

    static boolean isPath(ArgumentShape shape) {
        return shape instanceof PointerTo pointer
                && pointer.target() instanceof Special(SpecialForm form)
                && form == SpecialForm.PATH;
    }

    private static boolean hasDescriptor(ArgumentShape shape) {
        return isDescriptor(shape)
                || shape instanceof PointerTo pointer
                        && (firstDescriptor(pointer.target())
                                || pointer.target() instanceof Special(SpecialForm form)
                                        && form == SpecialForm.FDSET);
    }

    /** Whether memory begins with a descriptor. */
    static boolean firstDescriptor(TargetShape target) {
        return switch (target) {
            case StructShape struct -> isDescriptor(struct.fields().getFirst().shape());
            case Boxed(ArgumentShape number) -> isDescriptor(number);
            case Special _ -> false;
        };
    }

    static boolean isDescriptor(@Nullable ArgumentShape shape) {
        return shape instanceof PlainNumber(NumberForm form)
                && (form == NumberForm.FD || form == NumberForm.AT);
    }

    private void call(String[] words) {
        String head = words[0];
        int bracket = head.indexOf('[');
        String name = bracket < 0 ? head : head.substring(0, bracket);
        int end = Arrays.asList(words).indexOf("=");
        int count = end < 0 ? words.length : end;
        List<String> names = new ArrayList<>();
        for (int i = 1; i < count; i++) {
            names.add(words[i].substring(0, words[i].indexOf(':')));
        }
        List<CallArgument> arguments = new ArrayList<>();
        for (int i = 1; i < count; i++) {
            arguments.add(argument(words[i], names));
        }
        ArgumentShape result = end < 0 ? null : type(words[end + 1], names);
        int number = NAMES.numberOf(name);
        if (bracket < 0) {
            CallShape general = byName.get(name);
            Map<Long, CallShape> choices = general == null ? new HashMap<>() : general.choices();
            int chooser = general == null ? -1 : general.chooser();
            put(new CallShape(name, number, arguments, result, chooser, choices));
            return;
        }
        String[] choice = head.substring(bracket + 1, head.length() - 1).split("[:,]");
        CallShape general =
                byName.getOrDefault(
                        name, new CallShape(name, number, List.of(), null, -1, new HashMap<>()));
        CallShape chosen = new CallShape(name, number, arguments, result, -1, Map.of());
        for (int i = 1; i < choice.length; i++) {
            general.choices().put(ConstantSet.number(choice[i]) & 0xffffffffL, chosen);
        }
        int chooser = Integer.parseInt(choice[0]);
        put(
                new CallShape(
                        name,
                        number,
                        general.arguments(),
                        general.result(),
                        chooser,
                        general.choices()));
    }

    private void put(CallShape shape) {
        byName.put(shape.name(), shape);
        if (shape.number() >= 0) {
            byNumber[shape.number()] = shape;
        }
    }

    private CallArgument argument(String word, List<String> names) {
        int colon = word.indexOf(':');
        int condition = word.indexOf('?');
        String type = word.substring(colon + 1, condition < 0 ? word.length() : condition);
        ShownWhen when =
                condition < 0
                        ? ShownWhen.ALWAYS
                        : ShownWhen.valueOf(word.substring(condition + 1).toUpperCase(Locale.ROOT));
        return new CallArgument(word.substring(0, colon), type(type, names), when);
    }

    /** Reads a type. */
    private ArgumentShape type(String word, List<String> names) {
        boolean in = word.startsWith("<");
        boolean out = word.startsWith(">") || word.startsWith("<>");
        if (in || out) {
            String rest = word.substring(in && out ? 2 : 1);
            int bracket = rest.endsWith("]") ? rest.lastIndexOf('[') : rest.length();
            LengthShape count =
                    bracket == rest.length()
                            ? null
                            : length(rest.substring(bracket + 1, rest.length() - 1), names);
            return new PointerTo(in, out, target(rest.substring(0, bracket)), count);
        }
        int open = word.indexOf('(');
        if (open < 0) {
            NumberForm form = NUMBERS.get(word);
            StructShape inner = structs.get(word);
            if (form != null) {
                return new PlainNumber(form);
            }
            if (inner == null) {
                throw new IllegalArgumentException("no type is called " + word);
            }
            return new Inner(inner);
        }
        String[] parts = word.substring(open + 1, word.length() - 1).split(",");
        String kind = word.substring(0, open);
        int bits = kind.endsWith("16") ? 16 : kind.endsWith("64") ? 64 : 32;
        String zero = parts.length > 1 ? parts[1] : kind.equals("flagsof") ? "of" : "";
        return new ConstantNumber(ConstantSet.of(parts[0]), kind.startsWith("flags"), bits, zero);
    }

    private TargetShape target(String word) {
        SpecialForm special = SPECIALS.get(word);
        if (special != null) {
            return new Special(special);
        }
        StructShape struct = structs.get(word);
        return struct != null ? struct : new Boxed(type(word, List.of()));
    }

    private static LengthShape length(String word, List<String> names) {
        if (word.equals("ret")) {
            return new LengthShape.ByResult();
        } else if (Character.isDigit(word.charAt(0))) {
            return new LengthShape.FixedCount(Integer.parseInt(word));
        }
        boolean behind = word.startsWith("*");
        int index = names.indexOf(behind ? word.substring(1) : word);
        if (index < 0) {
            throw new IllegalArgumentException("no argument is called " + word);
        }
        return behind ? new LengthShape.BehindArgument(index) : new LengthShape.ByArgument(index);
    }

    private StructShape struct(String[] words) {
        List<StructField> fields = new ArrayList<>();
        int abbreviated = -1;
        for (int i = 3; i < words.length; i++) {
            if (words[i].equals("...")) {
                abbreviated = fields.size();
                continue;
            }
            int colon = words[i].indexOf(':');
            int at = words[i].lastIndexOf('@');
            ArgumentShape shape = type(words[i].substring(colon + 1, at), List.of());
            int offset = Integer.parseInt(words[i].substring(at + 1));
            fields.add(new StructField(words[i].substring(0, colon), shape, offset));
        }
        int bytes = Integer.parseInt(words[2]);
        return new StructShape(
                words[1], bytes, fields, abbreviated < 0 ? fields.size() : abbreviated);
    }
}
