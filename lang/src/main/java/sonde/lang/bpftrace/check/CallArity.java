package sonde.lang.bpftrace.check;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How many arguments a function of the language takes.
 *
 * @param text the first is a text that is written out
 */
record CallArity(int least, int most, boolean text) {
    private static final Map<String, CallArity> ALL = new HashMap<>();

    /** Functions that make an aggregate of a map. */
    static final Set<String> AGGREGATES =
            Set.of("count", "sum", "min", "max", "avg", "stats", "hist", "lhist", "tseries");

    /** All functions of the language. */
    static Set<String> names() {
        return ALL.keySet();
    }

    static {
        add(1, 128, true, "cat", "errorf", "warnf", "printf", "system", "fail", "debugf");
        add(0, 0, false, "count");
        add(1, 1, false, "sum", "min", "max", "avg", "stats", "bswap", "clear", "zero", "kptr");
        add(1, 1, false, "uptr", "ksym", "usym", "macaddr", "socket_cookie", "strerror");
        add(1, 1, false, "is_err", "signal_name", "syscall_name", "strcap", "strlen", "len");
        add(1, 1, false, "unwatch", "signal", "signal_thread", "override");
        add(1, 1, true, "cgroupid", "kaddr", "pton", "reg", "uaddr");
        add(0, 1, false, "exit", "nsecs", "pid", "tid", "comm");
        add(0, 1, false, "ppid", "pcomm", "leader_tid", "leader_comm");
        add(0, 1, true, "time");
        add(1, 2, false, "buf", "cgroup_path", "join", "ntop", "path", "str", "hist", "delete");
        add(1, 2, true, "percpu_kaddr", "assert_str");
        add(0, 2, false, "kstack", "ustack", "dw_ustack");
        add(1, 3, false, "print");
        add(2, 2, false, "has_key", "strcontains", "strstr", "str_concat");
        add(2, 2, true, "strftime");
        add(3, 3, false, "strncmp", "memcmp", "find", "write_user");
        add(4, 4, false, "lhist");
        add(3, 4, false, "tseries");
        add(4, 4, true, "skboutput");
        add(2, 2, true, "getopt");
        add(1, 1, true, "kfunc_exist", "kfunc_allowed");
        add(1, 1, false, "is_integer", "is_unsigned_integer", "is_ptr", "is_str", "is_array");
        add(1, 1, false, "is_literal", "is_scalar");
        add(2, 2, false, "assert", "static_assert");
        add(0, 0, false, "default_str_length");
    }

    private static void add(int least, int most, boolean text, String... names) {
        for (String name : names) {
            ALL.put(name, new CallArity(least, most, text));
        }
    }

    static @Nullable CallArity of(String function) {
        return ALL.get(function);
    }

    /** What to say of so many arguments; null when they are right. */
    @Nullable String fault(String function, int count) {
        if (count >= least && count <= most) {
            return null;
        }
        if (least == most) {
            return function
                    + "() requires "
                    + (least == 0
                            ? "no arguments"
                            : least == 1 ? "one argument" : least + " arguments")
                    + " ("
                    + count
                    + " provided)";
        }
        if (count < least) {
            return function
                    + "() requires at least "
                    + (least == 1 ? "one argument" : least + " arguments")
                    + " ("
                    + count
                    + " provided)";
        }
        return function
                + "() takes up to "
                + (most == 1 ? "one argument" : most + " arguments")
                + " ("
                + count
                + " provided)";
    }
}
