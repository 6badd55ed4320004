package sonde.tools.explain;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Locks of a report: the cycle that lockdep found, who holds which, and who waits for whom. */
final class LockGraph {
    private static final int MOST_LOCKS = 16;
    private static final int MOST_TASKS = 1 << 12;

    /** {@code (lock){+.+.}-{3:3}, at: function+0x1/0x2}; names may have parentheses. */
    private static final LinePattern LOCK =
            new LinePattern(
                    "(?<address>\\b[0-9a-f]{8,16} )?\\((?<lock>[^{}]{1,120})\\)"
                            + "\\{[^}]*\\}(?:-\\{[^}]*\\})?"
                            + "(?:, at: +(?:\\[<[0-9a-fx]+>\\] +)?(?<at>[\\w.]+))?");

    private static final LinePattern LINK = new LinePattern("^ *-> #(?<depth>\\d{1,4}) ");

    private static final LinePattern HOLDER =
            new LinePattern("^ ?\\d+ locks? held by (?<holder>.+/\\d+)(?: on CPU#\\d+)?:");

    /** {@code lock(a);} of {@code Possible unsafe locking scenario}: kernel/locking/lockdep.c. */
    private static final Pattern STEP =
            Pattern.compile(
                    "(?<indent> *)(?:(?:\\w*lock|sync)\\((?<lock>.{1,120})\\);"
                            + "|local_irq_disable\\(\\);|<Interrupt>)");

    private static final int FIRST_COLUMN = 20;
    private static final int SECOND_COLUMN = 36;

    /** Functions that sleep until a lock is free. */
    private static final Pattern WAITS =
            Pattern.compile(
                    "_*(?:ww_|rt_)?mutex_(?:slow)?lock.*|rwsem_down_.*|_*down(?:_\\w+)?"
                            + "|rwbase_.*_lock|percpu_rwsem_wait|rt_mutex_slowlock.*"
                            + "|schedule_preempt_disabled");

    /** A lock in the list of a task. */
    private record HeldLock(String instance, String name, String at) {
        String text() {
            return name + (at.isEmpty() ? "" : ", taken in " + at);
        }

        /** Whether another list has this lock; readers of RCU do not wait. */
        boolean isIn(List<HeldLock> locks) {
            return locks.stream().anyMatch(one -> one.instance.equals(instance))
                    && !name.startsWith("rcu_read_lock");
        }
    }

    /**
     * A task that a report about hung tasks shows.
     *
     * @param number of the incident
     * @param waits whether it sleeps until a lock is free
     * @param frame where; empty where no frame is left
     * @param owner who holds what it waits for, where the kernel says so; else empty
     */
    private record Sleeper(int number, boolean waits, String frame, String lock, String owner) {}

    private final BlameRules rules;
    private final Map<String, Sleeper> sleepers = new LinkedHashMap<>();
    private double last;

    LockGraph(BlameRules rules) {
        this.rules = rules;
    }

    /** Keeps where a hung task is, for later reports of this boot. */
    void note(
            int number,
            Map<String, String> fields,
            @Nullable LogFrame frame,
            List<LogStack> stacks,
            double seconds) {
        if (seconds < last || sleepers.size() >= MOST_TASKS) {
            sleepers.clear();
        }
        last = seconds;
        String who = fields.getOrDefault("task", "") + "/" + fields.getOrDefault("pid", "");
        boolean waits =
                !stacks.isEmpty()
                        && LogFrame.sure(stacks.getFirst().frames()).stream()
                                .anyMatch(one -> WAITS.matcher(one.function()).matches());
        sleepers.put(
                who,
                new Sleeper(
                        number,
                        waits || fields.containsKey("lockkind"),
                        frame == null ? "" : frame.shown(),
                        fields.getOrDefault("lockkind", "lock"),
                        fields.getOrDefault("owner", "").replaceFirst(":(\\d+)$", "/$1")));
    }

    /** The cycle of locks drawn; empty for a report without one. */
    List<String> cycle(List<LogStack> stacks, List<LogLine> lines) {
        TreeMap<Integer, String> names = new TreeMap<>();
        Map<Integer, String> places = new LinkedHashMap<>();
        String holder = "";
        for (int i = 0; i < lines.size(); i++) {
            String text = lines.get(i).text();
            Matcher link = LINK.match(text);
            Matcher lock = link == null ? null : LOCK.match(text);
            Matcher holds = holder.isEmpty() ? HOLDER.match(text) : null;
            holder = holds == null ? holder : holds.group("holder");
            if (link != null && lock != null && names.size() < MOST_LOCKS) {
                int depth = Integer.parseInt(link.group("depth"));
                if (names.putIfAbsent(depth, lock.group("lock")) == null) {
                    places.put(depth, taken(stacks, i));
                }
            }
        }
        if (names.size() < 2 || names.firstKey() != 0 || names.lastKey() != names.size() - 1) {
            return List.of();
        }
        // The log has the newest dependency as #0: the lock that is wanted now. The stack of #n is
        // where it was taken while the lock behind it in the cycle was held.
        List<String> drawn = new ArrayList<>();
        drawn.add(names.getOrDefault(0, ""));
        for (int depth : names.descendingKeySet()) {
            String place = places.getOrDefault(depth, "");
            drawn.add(
                    "  |  "
                            + (depth == 0
                                    ? (holder.isEmpty() ? "" : "held now by " + holder + "; ")
                                            + names.getOrDefault(0, "")
                                            + " is wanted"
                                            + place
                                            + ": this closes the cycle"
                                    : names.getOrDefault(depth, "")
                                            + " was taken while it was held"
                                            + place));
            drawn.add("  v");
            drawn.add(names.getOrDefault(depth, ""));
        }
        return drawn;
    }

    private String taken(List<LogStack> stacks, int line) {
        for (LogStack stack : stacks) {
            if (stack.line() != line) {
                continue;
            }
            for (LogFrame frame : LogFrame.sure(stack.frames())) {
                if (rules.skips(frame.function(), Set.of("lock")).isEmpty()) {
                    return ", in " + frame.shown();
                }
            }
        }
        return "";
    }

    /** What lockdep fears, step by step and processor by processor; empty where it does not say. */
    List<String> scenario(List<LogLine> lines) {
        Map<String, String> places = new LinkedHashMap<>();
        List<String> drawn = new ArrayList<>();
        Set<String> taken = new LinkedHashSet<>();
        boolean begun = false;
        boolean isTwo = false;
        boolean isInterrupt = false;
        String before = "";
        for (LogLine line : lines) {
            String text = line.text();
            boolean wants =
                    before.contains("to acquire lock:") || before.contains("state of lock:");
            Matcher at = wants || before.contains("holding lock:") ? LOCK.match(text) : null;
            if (at != null && at.group("at") != null) {
                places.putIfAbsent(
                        (wants ? "waits " : "takes ") + at.group("lock"), at.group("at"));
            }
            before = text;
            begun |= text.contains("unsafe locking scenario");
            Matcher step = begun ? STEP.matcher(text) : null;
            if (text.contains("*** DEADLOCK ***") || drawn.size() >= MOST_LOCKS) {
                break;
            } else if (step == null || !step.matches()) {
                continue;
            }
            boolean isSecond = step.group("indent").length() > FIRST_COLUMN;
            isTwo |= isSecond;
            isInterrupt |= text.contains("<Interrupt>");
            String lock = step.group("lock");
            String verb = lock == null || taken.add(lock) ? "takes " : "waits ";
            String place = places.getOrDefault(verb + lock, "");
            String shown =
                    lock == null
                            ? text.contains("<") ? "an interrupt comes" : "turns interrupts off"
                            : (verb.equals("takes ") ? verb : "waits for ")
                                    + lock
                                    + (place.isEmpty() ? "" : ", in " + place);
            drawn.add((isSecond ? " ".repeat(SECOND_COLUMN) : "") + shown);
        }
        if (!drawn.isEmpty()) {
            drawn.addFirst(isTwo ? "CPU 0" + " ".repeat(SECOND_COLUMN - 5) + "CPU 1" : "CPU 0");
            drawn.add(
                    isTwo
                            ? "each waits for the other"
                            : isInterrupt
                                    ? "the interrupt waits for the code that it interrupted"
                                    : "the task waits for itself");
        }
        return drawn;
    }

    /** Who holds and waits for what, and the chains of those who wait for each other. */
    List<String> sentences(Map<String, String> fields, List<LogLine> lines) {
        Map<String, List<HeldLock>> held = held(lines);
        List<String> sentences = new ArrayList<>();
        Map<String, HeldLock> waits = new LinkedHashMap<>();
        held.forEach((who, locks) -> sentences.add(sentence(who, locks, held, waits)));
        String who = fields.getOrDefault("task", "") + "/" + fields.getOrDefault("pid", "");
        Set<String> starts = new LinkedHashSet<>(waits.keySet());
        Sleeper own = sleepers.get(who);
        if (own != null && !own.owner().isEmpty()) {
            starts.add(who);
        }
        Set<String> told = new LinkedHashSet<>();
        for (String start : starts) {
            if (!told.contains(start)) {
                chain(start, held, waits, told, sentences);
            }
        }
        return sentences;
    }

    private static Map<String, List<HeldLock>> held(List<LogLine> lines) {
        Map<String, List<HeldLock>> held = new LinkedHashMap<>();
        String holder = "";
        for (LogLine line : lines) {
            String text = line.text();
            Matcher holds = HOLDER.match(text);
            boolean may = text.startsWith(" #") && !holder.isEmpty() && held.size() < MOST_LOCKS;
            Matcher lock = may ? LOCK.match(text) : null;
            if (holds != null) {
                holder = holds.group("holder");
            } else if (lock != null) {
                String at = lock.group("at");
                held.computeIfAbsent(holder, _ -> new ArrayList<>())
                        .add(
                                new HeldLock(
                                        lock.group("address") + lock.group("lock"),
                                        lock.group("lock"),
                                        at == null ? "" : at));
            }
        }
        return held;
    }

    /** lock_acquire() comes before the wait: a task may still wait for its last lock. */
    private String sentence(
            String who,
            List<HeldLock> locks,
            Map<String, List<HeldLock>> held,
            Map<String, HeldLock> waits) {
        HeldLock end = locks.getLast();
        boolean isShared = held.values().stream().filter(end::isIn).count() > 1;
        Sleeper sleeper = sleepers.get(who);
        boolean allOthersWait =
                held.entrySet().stream()
                        .filter(one -> !one.getKey().equals(who) && end.isIn(one.getValue()))
                        .allMatch(one -> waits(one.getKey()));
        boolean isWait = isShared && waits(who);
        boolean isHeld = !isShared || sleeper != null && !isWait || allOthersWait && !isWait;
        List<String> texts = new ArrayList<>(locks.stream().map(HeldLock::text).toList());
        String last = isHeld ? "" : texts.removeLast();
        last = isWait ? last.replace(", taken in ", ", wanted in ") : last;
        if (isWait) {
            waits.put(who, end);
        }
        String sure = texts.isEmpty() ? "" : " holds " + String.join("; ", texts);
        String and = sure.isEmpty() || last.isEmpty() ? "" : ", and";
        String unsure = isWait ? " waits for " + last : " holds or waits for " + last;
        return who + sure + and + (last.isEmpty() ? "" : unsure);
    }

    private boolean waits(String who) {
        Sleeper sleeper = sleepers.get(who);
        return sleeper != null && sleeper.waits();
    }

    private void chain(
            String start,
            Map<String, List<HeldLock>> held,
            Map<String, HeldLock> waits,
            Set<String> told,
            List<String> sentences) {
        StringBuilder text = new StringBuilder();
        Set<String> seen = new LinkedHashSet<>();
        String who = start;
        while (seen.add(who) && seen.size() <= MOST_LOCKS) {
            HeldLock lock = waits.get(who);
            Sleeper sleeper = sleepers.get(who);
            String said = sleeper == null ? "" : sleeper.owner();
            String owner =
                    said.isEmpty() && lock != null
                            ? owner(who, lock.instance(), held, waits)
                            : said;
            if (owner.isEmpty()) {
                break;
            }
            String name =
                    lock != null ? lock.name() : sleeper == null ? "a lock" : "a " + sleeper.lock();
            text.append(text.isEmpty() ? who : "; " + who)
                    .append(" waits for ")
                    .append(name)
                    .append(" of ")
                    .append(owner);
            who = owner;
        }
        if (text.isEmpty()) {
            return;
        }
        told.addAll(seen);
        if (waits.containsKey(who) && seen.contains(who) && !who.equals(start)
                || who.equals(start)) {
            sentences.add("a deadlock: " + text);
            return;
        }
        Sleeper end = sleepers.get(who);
        sentences.add(
                text
                        + (end == null
                                ? "; where " + who + " is, the log does not say"
                                : end.frame().isEmpty()
                                        ? ""
                                        : "; %s sleeps in %s (#%d)"
                                                .formatted(who, end.frame(), end.number())));
    }

    private static boolean waits(String who, String lock, Map<String, HeldLock> waits) {
        HeldLock wanted = waits.get(who);
        return wanted != null && wanted.instance().equals(lock);
    }

    /** The one task that has the lock in its list and does not wait for it; empty where unsure. */
    private static String owner(
            String who,
            String lock,
            Map<String, List<HeldLock>> held,
            Map<String, HeldLock> waits) {
        List<String> owners = new ArrayList<>();
        held.forEach((other, locks) -> {
            boolean has = locks.stream().anyMatch(one -> one.instance().equals(lock));
            if (has && !other.equals(who) && !waits(other, lock, waits)) {
                owners.add(other);
            }
        });
        return owners.size() == 1 ? owners.getFirst() : "";
    }
}
