package sonde.tools.kernel;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A key of magic SysRq (drivers/tty/sysrq.c, Documentation/admin-guide/sysrq.rst).
 *
 * @param harm what it does to the machine; empty for keys that only print
 * @param mask the bit of kernel.sysrq that allows it at a keyboard; 0 where only "all" does
 */
record SysrqKey(char key, String meaning, String harm, int mask) {
    private static final int LOG = 2;
    private static final int KEYBOARD = 4;
    private static final int DUMP = 8;
    private static final int SYNC = 16;
    private static final int REMOUNT = 32;
    private static final int SIGNAL = 64;
    private static final int BOOT = 128;
    private static final int RTNICE = 256;

    /**
     * {@code sysrq: HELP : loglevel(0-9) reboot(b) crash(c) …}; some versions end a word with -.
     */
    private static final Pattern HELP = Pattern.compile("([\\w-]+)\\((\\S|0-9)\\)");

    private static final Map<Character, SysrqKey> KEYS = new LinkedHashMap<>();

    static {
        add('h', "lists the keys that this kernel has", "", 0);
        add('0', "sets the log level of the console (0 to 9)", "", LOG);
        add('b', "reboots at once", "reboots without syncing or unmounting", BOOT);
        add('c', "crashes the kernel", "panics the kernel, for a dump", DUMP);
        add('d', "shows all held locks (lockdep)", "", DUMP);
        add('D', "shows the state of the sched_ext scheduler", "", DUMP);
        add('e', "sends SIGTERM to all processes but init", "ends all processes", SIGNAL);
        add('f', "calls the OOM killer", "kills the process that uses most memory", SIGNAL);
        add('g', "enters the kernel debugger (kgdb)", "stops the whole machine", DUMP);
        add('i', "sends SIGKILL to all processes but init", "kills all processes", SIGNAL);
        add('j', "thaws frozen file systems", "ends freezes of others, as of backups", 0);
        add('k', "kills all programs of the current console", "kills programs", KEYBOARD);
        add('l', "shows the stacks of all active CPUs", "", DUMP);
        add('m', "shows how memory is used", "", DUMP);
        add('n', "makes all real-time tasks normal ones", "changes all real-time tasks", RTNICE);
        add('o', "switches the machine off", "switches the machine off", BOOT);
        add('p', "shows registers and flags of this CPU", "", DUMP);
        add('q', "shows all armed timers and clock sources", "", DUMP);
        add('r', "takes the keyboard out of raw mode", "takes the keyboard from X", KEYBOARD);
        add('R', "prints the whole log on all consoles again", "", DUMP);
        add('s', "syncs all mounted file systems", "", SYNC);
        add('S', "ends the sched_ext scheduler", "replaces the scheduler of all tasks", RTNICE);
        add('t', "shows all tasks with their stacks", "", DUMP);
        add('u', "remounts all file systems read-only", "stops all writing to disks", REMOUNT);
        add('v', "restores the framebuffer console (ARM: shows trace buffers)", "", 0);
        add('w', "shows tasks that wait uninterruptibly, with their stacks", "", DUMP);
        add(
                'x',
                "shows the TLB (MIPS), registers (SPARC), enters xmon (PowerPC)",
                "can stop the machine",
                DUMP);
        add('y', "shows global registers (SPARC)", "", DUMP);
        add('z', "prints ftrace's buffer and stops tracing", "ends tracing of others", DUMP);
    }

    private static void add(char key, String meaning, String harm, int mask) {
        KEYS.put(key, new SysrqKey(key, meaning, harm, mask));
    }

    static List<SysrqKey> all() {
        return List.copyOf(KEYS.values());
    }

    /** A key that is not in the table may be a driver's. */
    static SysrqKey of(char key) {
        SysrqKey known = KEYS.get(Character.isDigit(key) ? '0' : key);
        return known == null
                ? new SysrqKey(key, "not a key of Linux itself", "is a driver's, or unknown", 0)
                : new SysrqKey(key, known.meaning, known.harm, known.mask);
    }

    boolean isHarmful() {
        return !harm.isEmpty();
    }

    /** The keys of the kernel's help line, with its names; empty for another line. */
    static Map<Character, String> help(String line) {
        Map<Character, String> found = new LinkedHashMap<>();
        if (line.contains("HELP : ")) {
            Matcher matcher = HELP.matcher(line.substring(line.indexOf("HELP : ")));
            while (matcher.find()) {
                found.put(matcher.group(2).charAt(0), matcher.group(1));
            }
        }
        return found;
    }

    /** kernel.sysrq; empty where the kernel has no SysRq. */
    static Optional<Long> mask(KernelFiles files) {
        return files.number("/proc/sys/kernel/sysrq");
    }

    /** Whether the mask lets a keyboard or serial console press it. */
    boolean isAllowed(long allowed) {
        return allowed == 1 || mask != 0 && (allowed & mask) != 0 || key == 'h' && allowed != 0;
    }

    /** What kernel.sysrq lets a keyboard do. */
    static String describe(long allowed) {
        String always = " /proc/sysrq-trigger takes all keys from root in any case.";
        if (allowed == 0) {
            return "Keyboard and serial console may press no key." + always;
        }
        if (allowed == 1) {
            return "Keyboard and serial console may press all keys." + always;
        }
        List<String> parts = new ArrayList<>();
        String[] names = {
            "log level", "keyboard (k r)", "dumps of tasks and memory (w t m l …)", "sync (s)",
            "remount (u)", "signals (e i f)", "reboot and off (b o)", "nice (n)"
        };
        for (int i = 0; i < names.length; i++) {
            if ((allowed & (2L << i)) != 0) {
                parts.add(names[i]);
            }
        }
        return "Keyboard and serial console may: " + String.join(", ", parts) + "." + always;
    }
}
