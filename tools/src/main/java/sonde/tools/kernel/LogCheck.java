package sonde.tools.kernel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.event.NearestNames;
import sonde.probe.printk.KernelLog;

/** Which messages of the kernel reach whom, and whether it understood its command line. */
final class LogCheck {
    private static final String PRINTK = "/proc/sys/kernel/printk";
    private static final String[] LEVELS = {
        "emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"
    };

    /** print_unknown_bootoptions() in init/main.c, Linux 5.14. */
    private static final Pattern UNKNOWN =
            Pattern.compile(
                    "Unknown kernel command line parameters \"(.*)\", will be passed to user"
                            + " space\\.?");

    /** What people mistype. */
    private static final List<String> PARAMETERS =
            List.of(
                    "console",
                    "crashkernel",
                    "debug",
                    "delayacct",
                    "dyndbg",
                    "earlycon",
                    "earlyprintk",
                    "ftrace",
                    "hung_task_panic",
                    "ignore_loglevel",
                    "initcall_debug",
                    "kgdboc",
                    "kgdbwait",
                    "kmemleak",
                    "log_buf_len",
                    "loglevel",
                    "mitigations",
                    "nmi_watchdog",
                    "nokaslr",
                    "oops",
                    "page_owner",
                    "panic",
                    "panic_on_warn",
                    "printk.time",
                    "quiet",
                    "slub_debug",
                    "slab_debug",
                    "softlockup_panic",
                    "sysrq_always_enabled",
                    "trace_event",
                    "trace_buf_size",
                    "nowatchdog");

    private final KernelFiles files;
    private final List<KernelSetting> settings = new ArrayList<>();

    LogCheck(KernelFiles files) {
        this.files = files;
    }

    List<KernelSetting> settings() {
        levels();
        consoles();
        unknownParameters(log());
        moduleParameters();
        subsystems();
        return settings;
    }

    /** The console's level of four; empty where the file is missing. */
    static Optional<Long> consoleLevel(KernelFiles files) {
        return files.text(PRINTK)
                .filter(text -> text.matches("\\d{1,3}(\\s+\\d{1,3}){3}"))
                .map(text -> Long.parseLong(text.split("\\s+")[0]));
    }

    static boolean ignoresLevel(KernelFiles files) {
        return files.text("/sys/module/printk/parameters/ignore_loglevel", "N").equals("Y");
    }

    private void levels() {
        Optional<Long> console = consoleLevel(files);
        if (console.isEmpty()) {
            settings.add(KernelSetting.unknown("log level", PRINTK + " cannot be read.", ""));
            return;
        }
        long level = console.get();
        String name = "log level of the console (kernel.printk)";
        String value = files.text(PRINTK, "").replaceAll("\\s+", " ");
        String boot =
                files.commandLine().stream()
                        .filter(word -> word.matches("quiet|debug|(loglevel=.*)|ignore_loglevel"))
                        .reduce("", (a, b) -> a + " " + b)
                        .strip();
        String from = boot.isEmpty() ? "" : " The boot command line has: " + boot + ".";
        if (ignoresLevel(files)) {
            settings.add(
                    KernelSetting.ok(
                            name, value, "ignore_loglevel is on: all messages reach it." + from));
        } else if (level > 7) {
            settings.add(KernelSetting.ok(name, value, "All messages reach it." + from));
        } else {
            String lost = level < 1 ? "no message" : "messages below " + LEVELS[(int) level - 1];
            settings.add(
                    new KernelSetting(
                            name,
                            value,
                            level < 5
                                    ? KernelSetting.SettingVerdict.NOTE
                                    : KernelSetting.SettingVerdict.OK,
                            (level < 1 ? "No message reaches it" : "It does not show " + lost)
                                    + (level < 5 ? ", WARN included" : "")
                                    + "; dmesg has all. A panic or oops raises the level by"
                                    + " itself."
                                    + from,
                            "dmesg -n 8   (boot: loglevel=8 or ignore_loglevel)"));
        }
        files.text("/proc/sys/kernel/dmesg_restrict")
                .ifPresent(text ->
                        settings.add(
                                KernelSetting.ok(
                                        "kernel.dmesg_restrict",
                                        text,
                                        text.equals("0")
                                                ? "Every user may read the kernel's log."
                                                : "Only root may read the kernel's log.")));
        files.text("/proc/sys/kernel/printk_ratelimit")
                .ifPresent(seconds ->
                        settings.add(
                                KernelSetting.ok(
                                        "rate limit (kernel.printk_ratelimit)",
                                        files.text("/proc/sys/kernel/printk_ratelimit_burst", "?")
                                                + " in "
                                                + seconds
                                                + " s",
                                        "Messages of printk_ratelimited() beyond this are left out,"
                                                + " and the log says 'callbacks suppressed'.")));
    }

    private void consoles() {
        Optional<String> listed = files.text("/proc/consoles");
        if (listed.isEmpty()) {
            settings.add(KernelSetting.unknown("consoles", "/proc/consoles cannot be read.", ""));
            return;
        }
        List<String> names = listed.get().lines().map(line -> line.split("\\s+")[0]).toList();
        boolean serial = names.stream().anyMatch(name -> name.matches("tty[A-Z].*|hvc.*|netcon.*"));
        String all = String.join(" ", names);
        settings.add(
                names.isEmpty() || all.isEmpty()
                        ? KernelSetting.problem(
                                "consoles",
                                "none",
                                "No device prints messages.",
                                "console=ttyS0,115200 on the boot command line, or modprobe"
                                        + " netconsole")
                        : serial
                                ? KernelSetting.ok("consoles", all, "These devices print messages.")
                                : KernelSetting.note(
                                        "consoles",
                                        all,
                                        "A screen only: it keeps no more than its last lines.",
                                        "console=ttyS0,115200 on the boot command line, or"
                                                + " modprobe netconsole"));
        boolean early =
                files.commandLine().stream().anyMatch(w -> w.matches("early(con|printk).*"));
        settings.add(
                KernelSetting.ok(
                        "early messages",
                        early ? "on" : "off",
                        early
                                ? "A boot prints before its console driver starts."
                                : "A boot that stops before its console driver starts prints"
                                        + " nothing; earlycon or earlyprintk=serial,ttyS0 shows"
                                        + " it."));
    }

    private List<String> log() {
        return files.root().toString().equals("/")
                ? KernelLog.all()
                : files.text("/log", "").lines().toList();
    }

    /** The kernel's own line, and words for modules that lack such a parameter. */
    void unknownParameters(List<String> log) {
        String name = "boot command line";
        List<String> faults = new ArrayList<>();
        Optional<Matcher> line =
                log.stream().map(UNKNOWN::matcher).filter(Matcher::find).findFirst();
        line.ifPresent(found ->
                Arrays.stream(found.group(1).split(" "))
                        .filter(word -> !word.isEmpty() && !word.startsWith("BOOT_IMAGE="))
                        .forEach(word -> faults.add(word + meant(word))));
        String all = String.join(", ", faults);
        boolean complete = log.stream().anyMatch(text -> text.startsWith("Linux version "));
        settings.add(
                !faults.isEmpty()
                        ? KernelSetting.problem(
                                name,
                                all,
                                "The kernel does not know these words and passed them to init,"
                                        + " which may know them.",
                                "correct or remove them in the boot loader's configuration")
                        : complete
                                ? KernelSetting.ok(
                                        name,
                                        String.join(" ", files.commandLine()),
                                        "The kernel complained about no word (Linux 5.14 and newer"
                                                + " do).")
                                : KernelSetting.unknown(
                                        name,
                                        "The beginning of the kernel's log, which would name"
                                                + " unknown words, cannot be read.",
                                        "journalctl -k -b | grep 'Unknown kernel command line'"));
    }

    /** Words such as usbcore.debug=1: the kernel passes over those of modules that it lacks. */
    private void moduleParameters() {
        List<String> waiting =
                files.commandLine().stream()
                        .filter(word -> word.matches("[\\w-]+\\.\\w+(=.*)?"))
                        .filter(word -> {
                            String module = word.substring(0, word.indexOf('.'));
                            return !files.has("/sys/module/" + module.replace('-', '_'))
                                    && !module.matches("systemd|rd|udev|luks|fsck|quota|snd");
                        })
                        .toList();
        if (!waiting.isEmpty()) {
            settings.add(
                    KernelSetting.note(
                            "words for modules",
                            String.join(" ", waiting),
                            "No module of this name is loaded: the word works when it is, or the"
                                    + " name is mistyped.",
                            ""));
        }
    }

    private static String meant(String word) {
        String key = word.split("=", 2)[0];
        List<String> near = NearestNames.near(key, PARAMETERS);
        return near.isEmpty() ? "" : " (did you mean " + near.getFirst() + "?)";
    }

    /** Subsystems with switches of their own. */
    private void subsystems() {
        for (String module : List.of("drm")) {
            String file = "/sys/module/" + module + "/parameters/debug";
            files.text(file)
                    .ifPresent(value ->
                            settings.add(
                                    KernelSetting.ok(
                                            "messages of " + module,
                                            file + " = " + value,
                                            "This subsystem has its own switch; drm.debug=0x1ff"
                                                    + " shows all of drm.")));
        }
    }
}
