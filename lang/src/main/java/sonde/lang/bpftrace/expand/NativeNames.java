package sonde.lang.bpftrace.expand;

import java.util.Set;

/** Names that the compiler knows without any macro. */
final class NativeNames {
    private static final String BUILTIN_PREFIX = "__builtin_";

    /** Those without arguments, at least in one form. */
    private static final Set<String> BUILTINS =
            words(
                    "args cgroup comm config cpid cpu ctx curtask dw_ustack elapsed func gid jiffies"
                            + " kstack ncpus nsecs numaid pid probe probetype rand retval tid uid"
                            + " usermode username ustack");

    /** Those with arguments. */
    private static final Set<String> FUNCTIONS =
            words(
                    "avg bswap buf cat cgroup_path cgroupid clear count delete errorf exit fail"
                            + " getopt has_key hist is_array is_integer is_literal is_ptr is_str"
                            + " is_unsigned_integer join kaddr kfunc_allowed kfunc_exist kptr ksym"
                            + " len lhist macaddr max memcmp min ntop override path percpu_kaddr"
                            + " print printf pton reg signal signal_name signal_thread skboutput"
                            + " socket_cookie stats str str_concat strcap strcontains strerror"
                            + " strftime strlen strncmp strstr sum syscall_name system time tseries"
                            + " uaddr unwatch uptr usym warnf watched write_user zero");

    private NativeNames() {}

    private static Set<String> words(String all) {
        return Set.of(all.split(" "));
    }

    /** A word that stands for a value by itself: {@code pid}, {@code arg3}. */
    static boolean isBuiltin(String name) {
        return BUILTINS.contains(name) || name.matches("arg[0-9]{1,2}");
    }

    /** Whether a macro's parameter may not have this name. */
    static boolean isReserved(String name) {
        return Set.of("args", "ctx", "kstack", "nsecs", "pid", "tid", "ustack").contains(name)
                || name.startsWith(BUILTIN_PREFIX)
                || name.matches("s?arg[0-9]{1,2}");
    }

    /** Whether {@code name()} is another way to say {@code name}. */
    static boolean mayBeCalled(String name) {
        return BUILTINS.contains(name) && !name.equals("args") && !name.equals("ctx");
    }

    /** A name that need not be a macro's. */
    static boolean isNative(String name) {
        return isBuiltin(name) || FUNCTIONS.contains(name);
    }

    /** {@code comm} of {@code __builtin_comm}: the builtin even where a macro has its name. */
    static String plain(String name) {
        String rest =
                name.startsWith(BUILTIN_PREFIX) ? name.substring(BUILTIN_PREFIX.length()) : name;
        return isNative(rest) ? rest : name;
    }
}
