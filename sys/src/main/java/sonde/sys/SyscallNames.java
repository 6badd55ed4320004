package sonde.sys;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Names and numbers of system calls, for this architecture and for recordings of another. */
public final class SyscallNames {
    private static final int SIZE = 512;
    private static final SyscallNames CURRENT = new SyscallNames(Arch.current());

    private final String[] names;
    private final Map<String, Integer> numbers;

    private SyscallNames(Arch arch) {
        names =
                ResourceTable.numbered(
                        "syscalls-" + arch.name().toLowerCase(Locale.ROOT) + ".txt", SIZE);
        numbers = HashMap.newHashMap(SIZE);
        for (int number = 0; number < names.length; number++) {
            if (!names[number].isEmpty()) {
                numbers.put(names[number], number);
            }
        }
    }

    private SyscallNames(SyscallNames table, List<String> more) {
        names = Arrays.copyOf(table.names, SIZE + more.size());
        numbers = new HashMap<>(table.numbers);
        for (int i = 0; i < more.size(); i++) {
            names[SIZE + i] = more.get(i);
            numbers.putIfAbsent(more.get(i), SIZE + i);
        }
    }

    /** This table with names that it lacks; the first of them has the number 512. */
    public SyscallNames and(List<String> more) {
        return more.isEmpty() ? this : new SyscallNames(this, more);
    }

    /** The table of that architecture. */
    public static SyscallNames of(Arch arch) {
        return arch == Arch.current() ? CURRENT : new SyscallNames(arch);
    }

    /** The call's name on this architecture, {@code "syscall 999"} for a number unknown to us. */
    public static String name(long number) {
        return CURRENT.nameOf(number);
    }

    /**
     * The call's number on this architecture.
     *
     * @throws IllegalArgumentException for a name it does not have
     */
    public static int number(String name) {
        int number = CURRENT.numberOf(name);
        if (number < 0) {
            throw new IllegalArgumentException(
                    "no system call " + name + " on " + Arch.current().machine());
        }
        return number;
    }

    /** The call's name, {@code "syscall 999"} for a number unknown to us. */
    public String nameOf(long number) {
        if (number >= 0 && number < names.length && !names[(int) number].isEmpty()) {
            return names[(int) number];
        }
        return "syscall " + number;
    }

    /** The call's number, or -1 for a name this architecture does not have. */
    public int numberOf(String name) {
        return numbers.getOrDefault(name, -1);
    }
}
