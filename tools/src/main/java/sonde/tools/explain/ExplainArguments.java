package sonde.tools.explain;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.probe.printk.KernelLog;
import sonde.sys.SyscallException;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;
import sonde.tools.explain.IncidentKind.IncidentWeight;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;

/** The options and words of {@code sonde explain}. */
public final class ExplainArguments {
    /** The command, its arguments and options. */
    public static final String MODEL =
            """
            sonde explain [OPTIONS] [LOG...]

            Find the incidents of kernel logs, and explain each of them: crashes, warnings, reports
            of KASAN, lockdep and other checkers, stalls, hung tasks, leaks, and programs that the
            kernel ended.

            Arguments:
              [LOG...]        kernel log, serial capture, output of dmesg or journalctl, also
                              compressed; a folder of such files, as /sys/fs/pstore; - is standard
                              input; without LOG: standard input, or /dev/kmsg if that is a terminal

            Options:
              -k, --vmlinux FILE
                              decode addresses with this kernel image
              -r, --release RELEASE
                              decode addresses with the image of this release, as uname -r prints it
              --modules DIR   look for kernel modules below this folder
              --force         decode addresses even if the image is of another release than the log
              --source DIR    show the lines of this source tree around the function to blame
              --decode-only   copy the logs and add the source position behind each address
              --why           show which frames were passed over to find the one to blame
              --all           show all frames of all stacks
              --identities    print a line per identity with the number of its incidents
              --identity sonde|syzkaller
                              name incidents in these words; they differ for damaged reports
                              (default sonde)
              -w, --follow    wait for further lines at the end of the log, until Ctrl-C
              -W, --follow-new
                              wait for new messages of the running kernel, and leave out older ones
              -l, --level LEVEL,...
                              show incidents of these severities (security, fatal, error, warning,
                              notice, or dmesg's names; err+ is err and more severe, +err err and
                              less)
              -f, --facility NAME,...
                              leave out lines of other facilities, where the log names them: kern
                              for the kernel, user for what programs wrote to /dev/kmsg
              --since WHEN    leave out incidents before this time: a date and time, 10:00, -2h,
                              yesterday, or seconds since the boot as the log has them (12.5s)
              --until WHEN    leave out incidents after this time
              -T, --ctime     show dates in place of seconds since the boot
              --html FILE     write a self-contained page with a timeline, and a card for each
                              incident; - is standard output
              --overwrite     with --html: overwrite FILE if it exists
              --json          print a JSON object per incident
            """
                    + SymbolArguments.SYMBOLS
                    + """

                    Examples:
                      dmesg | sonde explain
                      sonde explain /var/log/kern.log.1.gz
                      sonde explain -T -w /dev/kmsg
                      sonde explain -l err+ --since yesterday /var/log/kern.log
                      sonde explain console.txt -k vmlinux --modules build/
                      sonde explain --identities logs/ which fault is most frequent
                      journalctl -k -b -1 | sonde explain --json
                      sonde explain console.txt --source ~/linux --html crash.html

                    Exit status:
                      0 no fault of the kernel, 1 there is one, 4 a log cannot be unpacked
                    """;

    /** Levels of syslog(3), most severe first, and what they are here. */
    private static final List<String> LEVELS =
            List.of("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug");

    private static final Map<String, List<IncidentWeight>> WEIGHTS =
            Map.of(
                    "emerg", List.of(IncidentWeight.SECURITY, IncidentWeight.FATAL),
                    "alert", List.of(IncidentWeight.SECURITY, IncidentWeight.FATAL),
                    "crit", List.of(IncidentWeight.SECURITY, IncidentWeight.FATAL),
                    "err", List.of(IncidentWeight.ERROR),
                    "warn", List.of(IncidentWeight.WARNING),
                    "notice", List.of(IncidentWeight.NOTICE),
                    "info", List.of(IncidentWeight.NOTICE),
                    "debug", List.of(IncidentWeight.NOTICE));

    private ExplainArguments() {}

    /** What a command line asks for. */
    public static ExplainOptions options(GivenOptions given) {
        return new ExplainOptions(
                given.has("--why"),
                given.has("--all"),
                given.has("--identities"),
                given.text("--identity", "sonde").equals("syzkaller"),
                given.has("--follow") || given.has("--follow-new"),
                given.has("--force"),
                given.has("--ctime"),
                filter(given),
                given.path("--source"));
    }

    /**
     * The logs that a command line names; without any, the running kernel's log when a person sits
     * before the terminal, or further messages are waited for; else standard input.
     *
     * @throws OptionException for a file that is not there
     */
    public static List<LogSource> sources(GivenOptions given, boolean isTerminal)
            throws SyscallException {
        List<String> words = new ArrayList<>(given.words());
        boolean isNew = given.has("--follow-new");
        if (words.isEmpty()) {
            words.add(isTerminal || isNew ? ExplainRecipe.KMSG.toString() : "-");
        }
        List<LogSource> logs = new ArrayList<>();
        for (String word : words) {
            Path path = Path.of(word);
            if (word.equals("-")) {
                logs.add(new LogSource("standard input", null, System.in));
            } else if (!Files.exists(path)) {
                throw new OptionException(word + ": no such file");
            } else if (isNew && path.equals(ExplainRecipe.KMSG)) {
                logs.add(new LogSource(word, path, KernelLog.open(true).stream()));
            } else {
                logs.add(new LogSource(word, path, null));
            }
        }
        return logs;
    }

    /** What {@code --level}, {@code --facility}, {@code --since} and {@code --until} ask for. */
    private static IncidentFilter filter(GivenOptions given) {
        Set<IncidentWeight> weights = EnumSet.noneOf(IncidentWeight.class);
        for (String level : given.texts("--level")) {
            weights.addAll(weights(level));
        }
        if (weights.isEmpty()) {
            weights.addAll(EnumSet.allOf(IncidentWeight.class));
        }
        Set<Integer> facilities = new HashSet<>();
        for (String name : given.texts("--facility")) {
            int number = LogStamp.facilityOf(name);
            if (number < 0) {
                throw new OptionException(
                        "--facility takes kern, user, daemon, auth or another name of syslog(3),"
                                + " not '"
                                + name
                                + "'");
            }
            facilities.add(number);
        }
        ZonedDateTime now = ZonedDateTime.now();
        String since = given.text("--since");
        String until = given.text("--until");
        return new IncidentFilter(
                weights,
                facilities,
                since == null ? null : LogMoment.parse("--since", since, now),
                until == null ? null : LogMoment.parse("--until", until, now));
    }

    /** {@code err}, {@code err+} and all that is more severe, {@code +err} and what is less. */
    private static Set<IncidentWeight> weights(String level) {
        String name = level.replace("+", "");
        Set<IncidentWeight> weights = EnumSet.noneOf(IncidentWeight.class);
        for (IncidentWeight weight : IncidentWeight.values()) {
            if (weight.name().equalsIgnoreCase(name)) {
                weights.add(weight);
            }
        }
        if (weights.isEmpty() || name.equals("notice")) {
            weights.addAll(WEIGHTS.getOrDefault(name, List.of()));
        }
        if (weights.isEmpty()) {
            throw new OptionException(
                    "--level takes security, fatal, error, warning, notice, or "
                            + String.join(", ", LEVELS)
                            + ", not '"
                            + level
                            + "'");
        }
        EnumSet<IncidentWeight> wanted = EnumSet.copyOf(weights);
        for (IncidentWeight weight : IncidentWeight.values()) {
            boolean isWorse = weights.stream().allMatch(one -> weight.compareTo(one) <= 0);
            boolean isBetter = weights.stream().allMatch(one -> weight.compareTo(one) >= 0);
            if (level.endsWith("+") && isWorse || level.startsWith("+") && isBetter) {
                wanted.add(weight);
            }
        }
        return wanted;
    }
}
