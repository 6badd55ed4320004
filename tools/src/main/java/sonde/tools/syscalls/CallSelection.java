package sonde.tools.syscalls;

import java.util.BitSet;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import sonde.event.NearestNames;
import sonde.recording.syscall.CallStyle.CallForms;
import sonde.recording.syscall.CallStyle.DescriptorForm;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.LineStyle.CallStatus;
import sonde.sys.Arch;
import sonde.sys.SignalNames;
import sonde.sys.SyscallNames;
import sonde.tools.option.OptionException;

/** Which calls, signals and results are shown: {@code -e EXPR} of strace. */
public final class CallSelection {
    private static final int SIGNALS = 65;
    private static final int MOST_DESCRIPTORS = 1 << 16;
    private static final Set<String> DETAILS =
            new TreeSet<>(Set.of("path", "socket", "dev", "pidfd"));
    private static final List<String> MESSAGES =
            List.of("attach", "exit", "path-resolution", "personality", "thread-execve");

    private final CallTable table;
    private BitSet calls = all(CallTable.CALLS + 1);
    private BitSet signals = all(SIGNALS);
    private final Set<CallStatus> statuses = EnumSet.noneOf(CallStatus.class);
    private final Set<String> quiet = new TreeSet<>();
    private BitSet abbreviated = all(CallTable.CALLS + 1);
    private BitSet structs = all(CallTable.CALLS + 1);
    private BitSet raw = new BitSet();
    private BitSet dumpRead = new BitSet();
    private BitSet dumpWrite = new BitSet();
    private Set<String> details = Set.of();
    private boolean names;

    /** Everything is shown. */
    public CallSelection(CallTable table) {
        this.table = table;
    }

    private static BitSet all(int count) {
        BitSet set = new BitSet(count);
        set.set(0, count);
        return set;
    }

    /** Calls that are shown, by number. */
    public BitSet calls() {
        return calls;
    }

    /** Signals that are shown. */
    public BitSet signals() {
        return signals;
    }

    /** Results that are shown; all when empty. */
    public Set<CallStatus> statuses() {
        return statuses;
    }

    /** Whether messages of a kind are left out. */
    public boolean isQuiet(String kind) {
        return quiet.contains(kind);
    }

    /** Leaves out messages: as many kinds as -q, -qq or -qqq. */
    public void quiet(int level) {
        quiet(level > 2 ? "all" : level > 1 ? "attach,personality,exit" : "attach,personality");
    }

    /** Calls that are written in another way. */
    public CallForms forms() {
        BitSet verbose = all(CallTable.CALLS + 1);
        verbose.andNot(abbreviated);
        BitSet pointers = all(CallTable.CALLS + 1);
        pointers.andNot(structs);
        return new CallForms(verbose, pointers, raw);
    }

    /** Shows all fields of structs. */
    public void verbose() {
        abbreviated = new BitSet();
    }

    /** Descriptors whose data are dumped when they are read. */
    public BitSet dumpRead() {
        return dumpRead;
    }

    /** Descriptors whose data are dumped when they are written. */
    public BitSet dumpWrite() {
        return dumpWrite;
    }

    /** What stands behind descriptors and processes. */
    public DescriptorForm descriptors() {
        return new DescriptorForm(
                !details.isEmpty(),
                details.contains("socket"),
                details.contains("dev"),
                details.contains("pidfd"),
                names);
    }

    /** What is shown behind a descriptor: {@code path,socket}, {@code all}. */
    public void details(String set) {
        boolean not = set.startsWith("!");
        Set<String> found = new TreeSet<>();
        for (String word : (not ? set.substring(1) : set).split(",")) {
            switch (word) {
                case "all" -> found.addAll(DETAILS);
                case "none" -> {}
                case "" -> found.add("path");
                default -> {
                    if (!DETAILS.contains(word)) {
                        throw unknown("--decode-fds", word, DETAILS);
                    }
                    found.add(word);
                }
            }
        }
        if (not) {
            Set<String> others = new TreeSet<>(DETAILS);
            others.removeAll(found);
            found = others;
        }
        details = found;
    }

    /** Shows the names of processes: {@code comm}. */
    public void processes(String set) {
        names = false;
        for (String word : set.split(",")) {
            switch (word) {
                case "comm", "all" -> names = true;
                case "none" -> {}
                case "pidns" ->
                        throw new OptionException("--decode-pids=pidns is not supported; comm is");
                default -> throw unknown("--decode-pids", word, List.of("comm", "none"));
            }
        }
    }

    private static OptionException unknown(String option, String word, Collection<String> known) {
        return new OptionException(
                "%s: '%s' is none of %s".formatted(option, word, String.join(", ", known)));
    }

    /** Descriptors: {@code 3,5}, {@code all}, {@code !1}. */
    public static BitSet descriptors(String option, String set) {
        return inverted(
                set,
                MOST_DESCRIPTORS,
                word -> {
                    if (!word.matches("[0-9]{1,5}") || Integer.parseInt(word) >= MOST_DESCRIPTORS) {
                        throw new OptionException(option + ": '" + word + "' is not a descriptor");
                    }
                    BitSet one = new BitSet();
                    one.set(Integer.parseInt(word));
                    return one;
                });
    }

    /**
     * Applies {@code QUALIFIER=SET}, or a set of calls.
     *
     * @throws OptionException for what strace does not know either, or what stops the program
     */
    public void expression(String text) {
        int equals = text.indexOf('=');
        String qualifier = equals < 0 || text.startsWith("/") ? "trace" : text.substring(0, equals);
        String set = qualifier.equals("trace") && equals < 0 ? text : text.substring(equals + 1);
        switch (qualifier) {
            case "trace", "t" -> trace(text.startsWith("/") ? text : set);
            case "signal", "signals", "s" -> signal(set);
            case "status" -> status(set);
            case "quiet", "q", "silent", "silence" -> quiet(set);
            case "inject", "fault" ->
                    throw new OptionException(
                            "-e "
                                    + qualifier
                                    + ": changing calls stops the program at each of them;"
                                    + " 'strace -e "
                                    + text
                                    + "' does that");
            case "abbrev", "a" -> abbreviated = calls(set);
            case "verbose", "v" -> structs = calls(set);
            case "raw", "x" -> raw = calls(set);
            case "read", "reads", "r" -> dumpRead = descriptors("-e read", set);
            case "write", "writes", "w" -> dumpWrite = descriptors("-e write", set);
            case "decode-fds", "decode-fd" -> details(set);
            case "decode-pids", "decode-pid" -> processes(set);
            case "kvm", "namespace" ->
                    throw new OptionException(
                            "-e " + qualifier + "=: 'sonde syscalls' does not show that");
            default ->
                    throw unknown(
                            "-e " + text,
                            qualifier,
                            List.of(
                                    "trace",
                                    "signal",
                                    "status",
                                    "quiet",
                                    "abbrev",
                                    "verbose",
                                    "raw",
                                    "read",
                                    "write",
                                    "decode-fds",
                                    "decode-pids"));
        }
    }

    /** {@code openat,%network}, {@code !poll}, {@code /^sched_}, {@code all}, {@code none}. */
    public void trace(String set) {
        calls = calls(set);
    }

    private BitSet calls(String set) {
        return inverted(set, CallTable.CALLS + 1, this::oneCall);
    }

    /** {@code SIGCHLD,!usr1}. */
    public void signal(String set) {
        signals = inverted(set, SIGNALS, CallSelection::oneSignal);
    }

    /** {@code successful,failed}. */
    public void status(String set) {
        statuses.clear();
        boolean not = set.startsWith("!");
        if (set.equals("all") || set.equals("none")) {
            return;
        }
        for (String word : (not ? set.substring(1) : set).split(",")) {
            statuses.add(
                    switch (word) {
                        case "successful" -> CallStatus.SUCCESSFUL;
                        case "failed" -> CallStatus.FAILED;
                        case "unfinished", "unavailable", "detached" -> CallStatus.UNFINISHED;
                        default ->
                                throw new OptionException(
                                        "status '"
                                                + word
                                                + "' is none of successful, failed, unfinished");
                    });
        }
        if (not) {
            Set<CallStatus> others = EnumSet.complementOf(EnumSet.copyOf(statuses));
            statuses.clear();
            statuses.addAll(others);
        }
    }

    /** {@code exit,thread-execve}. */
    public void quiet(String set) {
        boolean not = set.startsWith("!");
        quiet.clear();
        for (String word : (not ? set.substring(1) : set).split(",")) {
            switch (word) {
                case "all" -> quiet.addAll(MESSAGES);
                case "none" -> {}
                case "attach", "exit", "path-resolution", "personality", "thread-execve" ->
                        quiet.add(word);
                case "path-resolve" -> quiet.add("path-resolution");
                case "exits" -> quiet.add("exit");
                case "superseded" -> quiet.add("thread-execve");
                default -> throw unknown("quiet", word, MESSAGES);
            }
        }
        if (not) {
            Set<String> others = new TreeSet<>(MESSAGES);
            others.removeAll(quiet);
            quiet.clear();
            quiet.addAll(others);
        }
    }

    private interface SetReader {
        BitSet read(String word);
    }

    private static BitSet inverted(String set, int count, SetReader reader) {
        boolean not = set.startsWith("!");
        BitSet found = new BitSet();
        for (String word : (not ? set.substring(1) : set).split(",")) {
            switch (word) {
                case "all" -> found.set(0, count);
                case "none", "" -> {}
                default -> found.or(reader.read(word));
            }
        }
        if (not) {
            found.flip(0, count);
        }
        return found;
    }

    private BitSet oneCall(String given) {
        boolean optional = given.startsWith("?");
        String word = given.substring(optional ? 1 : 0).replaceFirst("@64$", "");
        BitSet found = new BitSet();
        if (word.startsWith("/")) {
            Pattern pattern = pattern(word.substring(1));
            for (int number = 0; number < CallTable.CALLS; number++) {
                String name = CallTable.name(number);
                found.set(number, !name.startsWith("syscall_") && pattern.matcher(name).find());
            }
            return found;
        }
        BitSet old = word.startsWith("%") ? null : oldClass(word);
        BitSet members = word.startsWith("%") ? table.ofClass(word.substring(1)) : old;
        int number = word.matches("\\d{1,3}") ? Integer.parseInt(word) : CallTable.number(word);
        if (members != null) {
            return members;
        } else if (number >= 0 && number < CallTable.CALLS) {
            found.set(number);
        } else if (!optional) {
            String meant = NearestNames.meant(word, names());
            throw new OptionException("invalid system call '" + word + "'" + meant);
        }
        return found;
    }

    /** Classes of strace that were written without a sign. */
    private @Nullable BitSet oldClass(String word) {
        boolean isOld =
                List.of("file", "process", "network", "signal", "ipc", "desc", "memory")
                        .contains(word);
        return isOld ? table.ofClass(word) : null;
    }

    private static List<String> names() {
        SyscallNames all = SyscallNames.of(Arch.X86_64);
        return IntStream.range(0, CallTable.CALLS).mapToObj(all::nameOf).toList();
    }

    private static Pattern pattern(String expression) {
        try {
            return Pattern.compile(expression);
        } catch (PatternSyntaxException e) {
            throw new OptionException("/" + expression + ": " + e.getDescription(), e);
        }
    }

    private static BitSet oneSignal(String word) {
        OptionalInt number = SignalNames.number(word.toUpperCase(Locale.ROOT));
        if (number.isEmpty()) {
            throw new OptionException("invalid signal '" + word + "'");
        }
        BitSet one = new BitSet();
        one.set(number.getAsInt());
        return one;
    }
}
