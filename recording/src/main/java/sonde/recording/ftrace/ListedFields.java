package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Which fields of events are listed, as {@code perf script -F} takes them: {@code comm,tid,ip}, or
 * {@code +addr,-cpu} on top of the usual ones; before a colon the kind of events that is meant
 * ({@code sw:comm,ip}).
 */
public final class ListedFields {
    /** The usual fields of every kind. */
    public static final ListedFields USUAL = new ListedFields(List.of());

    /** A field, in the order of a line. */
    public enum ListedField {
        /** Name of the thread. */
        COMM,
        /** Process. */
        PID,
        /** Thread. */
        TID,
        /** CPU. */
        CPU,
        /** Time. */
        TIME,
        /** What the sample stands for. */
        PERIOD,
        /** Name of the event. */
        EVENT,
        /** What instruction tracing tells of branches; blank without. */
        FLAGS,
        /** Text of a tracepoint. */
        TRACE,
        /** Address of data. */
        ADDR,
        /** Where data came from. */
        DATA_SRC,
        /** Cost of a memory access. */
        WEIGHT,
        /** Latency of the instruction. */
        INS_LAT,
        /** Address of code, or the call chain. */
        IP,
        /** Function. */
        SYM,
        /** Offset in it. */
        SYMOFF,
        /** File of the code. */
        DSO,
        /** Line of source. */
        SRCLINE,
        /** Registers at the interrupt. */
        IREGS,
        /** Registers of user space. */
        UREGS,
        /** Branches as addresses. */
        BRSTACK,
        /** Physical address of data. */
        PHYS_ADDR,
        /** Size of the page of data. */
        DATA_PAGE_SIZE,
        /** Size of the page of code. */
        CODE_PAGE_SIZE;

        /** As it is written in a list. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** The field of that word. */
        public static Optional<ListedField> of(String word) {
            return Arrays.stream(values()).filter(name -> name.word().equals(word)).findFirst();
        }
    }

    /** Kinds of events by the word before the colon, numbered as {@code perf_type_id} does. */
    public enum Kind {
        /** Counters of the CPU. */
        HW(0),
        /** Counters and clocks of the kernel. */
        SW(1),
        /** Tracepoints. */
        TRACE(2),
        /** Caches. */
        CACHE(3),
        /** Counters by the CPU's own numbers. */
        RAW(4),
        /** Breakpoints. */
        BREAK(5),
        /** All others. */
        OTHER(7);

        private final int number;

        Kind(int number) {
            this.number = number;
        }

        /** The kind of a {@code perf_event_attr.type}. */
        public static Kind of(int type) {
            return Arrays.stream(values())
                    .filter(kind -> kind.number == type)
                    .findFirst()
                    .orElse(OTHER);
        }
    }

    private record Change(
            Set<Kind> kinds, boolean replaces, boolean adds, Set<ListedField> names) {}

    /** A word that is not a field. */
    public static final class UnknownFieldException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        private final String word;

        UnknownFieldException(String word) {
            super("'" + word + "' is not a field");
            this.word = word;
        }

        /** What was given. */
        public String word() {
            return word;
        }
    }

    private final List<Change> changes;
    private final boolean fullSourcePaths;

    private ListedFields(List<Change> changes) {
        this(changes, false);
    }

    private ListedFields(List<Change> changes, boolean fullSourcePaths) {
        this.changes = List.copyOf(changes);
        this.fullSourcePaths = fullSourcePaths;
    }

    /** The same with the folders of source files. */
    public ListedFields withFullSourcePaths() {
        return new ListedFields(changes, true);
    }

    /** Whether source lines are shown with the folders of their files. */
    public boolean fullSourcePaths() {
        return fullSourcePaths;
    }

    /**
     * Reads lists in their order; a later one without {@code +} and {@code -} replaces.
     *
     * @throws UnknownFieldException for a word that is not a field
     * @throws IllegalArgumentException for a kind that is none, and for lists that mix both forms
     */
    public static ListedFields parse(List<String> lists) {
        List<Change> changes = new ArrayList<>();
        for (String list : lists) {
            int colon = list.indexOf(':');
            Set<Kind> kinds =
                    colon < 0 ? EnumSet.allOf(Kind.class) : kinds(list.substring(0, colon));
            List<String> words =
                    Arrays.stream(list.substring(colon + 1).split(",", -1))
                            .map(String::strip)
                            .filter(word -> !word.isEmpty())
                            .toList();
            long signed = words.stream().filter(ListedFields::isSigned).count();
            if (signed != 0 && signed != words.size()) {
                throw new IllegalArgumentException(
                        "'" + list + "' mixes fields with and without + or -");
            }
            if (signed == 0) {
                EnumSet<ListedField> names = EnumSet.noneOf(ListedField.class);
                words.forEach(word -> names.add(name(word)));
                changes.add(new Change(kinds, true, true, names));
            }
            for (String word : signed == 0 ? List.<String>of() : words) {
                boolean adds = word.charAt(0) == '+';
                changes.add(new Change(kinds, false, adds, Set.of(name(word.substring(1)))));
            }
        }
        return new ListedFields(changes);
    }

    private static boolean isSigned(String word) {
        return word.charAt(0) == '+' || word.charAt(0) == '-';
    }

    private static ListedField name(String word) {
        return ListedField.of(word).orElseThrow(() -> new UnknownFieldException(word));
    }

    private static Set<Kind> kinds(String word) {
        for (Kind kind : Kind.values()) {
            if (kind.name().equalsIgnoreCase(word)) {
                return EnumSet.of(kind);
            }
        }
        throw new IllegalArgumentException(
                "'" + word + "' is not a kind of events: hw, sw, cache, trace, raw, break");
    }

    /** Whether nothing was asked for. */
    public boolean isUsual() {
        return changes.isEmpty();
    }

    /** Whether a list speaks of events of a kind. */
    public boolean names(Kind kind) {
        return changes.stream().anyMatch(change -> change.kinds.contains(kind));
    }

    /** Whether a field is asked for, of any kind of events. */
    public boolean asks(ListedField name) {
        return Arrays.stream(Kind.values()).anyMatch(kind -> asked(kind).contains(name));
    }

    /** The fields that a list names for a kind, and takes no more away. */
    public EnumSet<ListedField> asked(Kind kind) {
        return of(kind, Set.of());
    }

    /** The fields of a kind whose usual ones are given; TRACE only of tracepoints. */
    public EnumSet<ListedField> of(Kind kind, Set<ListedField> usual) {
        EnumSet<ListedField> names = EnumSet.noneOf(ListedField.class);
        names.addAll(usual);
        for (Change change : changes) {
            if (change.kinds.contains(kind)) {
                if (change.replaces) {
                    names.clear();
                }
                if (change.adds) {
                    names.addAll(change.names);
                } else {
                    names.removeAll(change.names);
                }
            }
        }
        return names;
    }
}
