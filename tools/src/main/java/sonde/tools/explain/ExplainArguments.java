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

/** The options and words of {@code sonde explain}. */
public final class ExplainArguments {
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
