package sonde.lang.declare;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.sys.Arch;
import sonde.sys.ResourceTable;
import sonde.sys.SyscallNames;

/**
 * Constants of Linux that scripts name without a header, for x86-64: {@code AF_INET}, {@code
 * ENOENT}, {@code PF_KTHREAD}, {@code __NR_openat}.
 */
public final class LinuxConstants {
    private LinuxConstants() {}

    private static final class All {
        static final Map<String, Long> VALUES = read();

        private static Map<String, Long> read() {
            Map<String, Long> values = new HashMap<>(4096);
            for (String line :
                    ResourceTable.lines(
                            LinuxConstants.class.getResourceAsStream("constants.txt"))) {
                int space = line.indexOf(' ');
                values.put(line.substring(0, space), Long.parseLong(line.substring(space + 1)));
            }
            return values;
        }
    }

    /** The value of a constant; null for one that is not known. */
    public static @Nullable Long value(String name) {
        Long value = All.VALUES.get(name);
        if (value != null) {
            return value;
        }
        int prefix = name.startsWith("__NR_") ? 5 : name.startsWith("SYS_") ? 4 : 0;
        SyscallNames calls = SyscallNames.of(Arch.current());
        int number = prefix == 0 ? -1 : calls.numberOf(name.substring(prefix));
        return number < 0 ? null : (long) number;
    }
}
