package sonde.tools.syscalls;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import sonde.event.NearestNames;
import sonde.probe.syscall.Injection;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.LineStyle.CallStatus;
import sonde.sys.Arch;
import sonde.sys.SignalNames;
import sonde.sys.SyscallNames;
import sonde.tools.option.OptionException;

/** Which calls, signals and results are shown: {@code -e EXPR} of strace. */
public final class CallSelection {
    private static final int SIGNALS = 65;

    private final CallTable table;
    private BitSet calls = all(CallTable.CALLS + 1);
    private BitSet signals = all(SIGNALS);
    private final Set<CallStatus> statuses = EnumSet.noneOf(CallStatus.class);
    private final List<Injection> injections = new ArrayList<>();
    private boolean exits = true;

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

    /** Whether the ends of threads are shown. */
    public boolean exits() {
        return exits;
    }

    /** What is done to calls. */
    public List<Injection> injections() {
        return injections;
    }

    /** Hides the ends of threads. */
    public void quiet() {
        exits = false;
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
            case "inject", "fault" -> inject(set, qualifier.equals("fault"));
            case "abbrev",
                    "verbose",
                    "raw",
                    "read",
                    "write",
                    "reads",
                    "writes",
                    "kvm",
                    "namespace" ->
                    throw new OptionException(
                            "-e " + qualifier + " is not supported; -v, -s and -x are");
            default ->
                    throw new OptionException(
                            "-e "
                                    + text
                                    + ": '"
                                    + qualifier
                                    + "' is none of trace, signal, status, quiet, inject, fault");
        }
    }

    /** {@code openat,%network}, {@code !poll}, {@code /^sched_}, {@code all}, {@code none}. */
    public void trace(String set) {
        calls = setOf(set);
    }

    private void inject(String text, boolean fault) {
        try {
            injections.add(Injection.parse(text, fault, this::setOf));
        } catch (Injection.InjectionException e) {
            throw new OptionException(String.valueOf(e.getMessage()), e);
        }
    }

    private BitSet setOf(String set) {
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

    private void quiet(String set) {
        exits = !List.of(set.split(",")).contains("exit") && !set.equals("all");
    }

    private interface SetReader {
        BitSet read(String word);
    }

    private static BitSet inverted(String set, int count, SetReader reader) {
        boolean not = set.startsWith("!");
        BitSet found = new BitSet(count);
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
        String word = optional ? given.substring(1) : given;
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
