package sonde.tools.kernel;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.probe.printk.KernelLog;
import sonde.probe.printk.KernelLog.LogRecord;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.tools.explain.ExplainRecipe;
import sonde.tools.option.OptionException;
import sonde.view.TextEscape;

/** Presses keys of magic SysRq, and collects what the kernel answers in its log. */
public final class SysrqRecipe {
    private static final String TRIGGER = "/proc/sysrq-trigger";
    private static final long POLL_NANOS = 20_000_000;

    /** The answer of all CPUs comes by interrupts, and workers print the rest. */
    private static final long QUIET_NANOS = 400_000_000;

    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final int MOST_LINES = 200_000;

    private SysrqRecipe() {}

    /** The keys with their meaning, and which of them this kernel names when asked for help. */
    public static Result keys(boolean ask) throws IOException {
        Map<Character, String> here = new LinkedHashMap<>();
        if (ask) {
            press('h').forEach(record -> here.putAll(SysrqKey.help(record.text())));
        }
        KernelFiles files = KernelFiles.HERE;
        return keys(here, SysrqKey.mask(files), files.has(TRIGGER));
    }

    static Report keys(Map<Character, String> here, Optional<Long> mask, boolean there) {
        List<SysrqKey> all = new ArrayList<>(SysrqKey.all());
        here.keySet().stream()
                .filter(key -> all.stream().noneMatch(one -> one.key() == key))
                .forEach(key -> all.add(SysrqKey.of(key)));
        List<String> notes = new ArrayList<>();
        notes.add(mask.map(SysrqKey::describe).orElse("this kernel has no magic SysRq"));
        if (here.isEmpty()) {
            notes.add(
                    there
                            ? "'sonde kernel sysrq h' asks the kernel which of them it has"
                            : TRIGGER + " is missing (CONFIG_MAGIC_SYSRQ)");
        }
        TableBuilder<SysrqKey> table =
                new TableBuilder<SysrqKey>("keys")
                        .text("key", one -> one.key() == '0' ? "0-9" : "" + one.key())
                        .text("meaning", SysrqKey::meaning)
                        .text("needs --yes", one -> one.isHarmful() ? one.harm() : "");
        if (!here.isEmpty()) {
            table.text("name here", one -> here.getOrDefault(one.key(), nameless(one)));
        }
        mask.ifPresent(
                value -> table.text("at a keyboard", one -> one.isAllowed(value) ? "yes" : "no"));
        return new Report("magic SysRq", notes, List.of(table.table(all)));
    }

    private static @Nullable String nameless(SysrqKey key) {
        return key.key() == 'h' ? "help" : null;
    }

    /**
     * Presses a key.
     *
     * @param confirmed whether it may do more than print
     */
    public static Result press(String word, boolean confirmed) throws IOException {
        if (word.length() != 1 || word.charAt(0) <= ' ' || word.charAt(0) > '~') {
            throw new OptionException(
                    "'" + word + "' is not a key: one character; 'sonde kernel sysrq' lists them");
        }
        SysrqKey key = SysrqKey.of(word.charAt(0));
        if (key.isHarmful() && !confirmed) {
            throw new OptionException(
                    "'%s' %s (%s); --yes confirms it".formatted(word, key.meaning(), key.harm()));
        }
        if (key.key() == 'h') {
            return keys(true);
        }
        Optional<Long> before = LogCheck.consoleLevel(KernelFiles.HERE);
        List<LogRecord> answer = press(key.key());
        return answer(key, answer, notes(key, answer, before));
    }

    private static List<String> notes(
            SysrqKey key, List<LogRecord> answer, Optional<Long> levelBefore) {
        List<String> notes = new ArrayList<>(List.of(key.key() + " " + key.meaning()));
        SysrqKey.mask(KernelFiles.HERE)
                .filter(mask -> !key.isAllowed(mask))
                .ifPresent(mask ->
                        notes.add(
                                "kernel.sysrq = "
                                        + mask
                                        + " forbids this key at a keyboard or serial console;"
                                        + " /proc/sysrq-trigger takes it from root"));
        boolean isUnknown = answer.stream().anyMatch(r -> !SysrqKey.help(r.text()).isEmpty());
        if (isUnknown) {
            notes.add("this kernel does not have the key: it answered with its help");
        } else if (answer.size() < 2) {
            notes.add("the kernel had nothing to show");
        }
        notes.addAll(ExplainRecipe.answer(answer.stream().map(LogRecord::text).toList()));
        if (Character.isDigit(key.key())) {
            levelBefore.ifPresent(level ->
                    notes.add(
                            "the level of the console was "
                                    + level
                                    + ": dmesg -n "
                                    + level
                                    + " sets it back"));
        }
        return notes;
    }

    static Result answer(SysrqKey key, List<LogRecord> answer, List<String> notes) {
        Report report =
                new Report(
                        "SysRq " + key.key(),
                        notes,
                        List.of(
                                new TableBuilder<LogRecord>("answer")
                                        .count("time us", LogRecord::micros)
                                        .count("level", one -> (long) one.level())
                                        .text("caller", LogRecord::caller)
                                        .text("message", LogRecord::text)
                                        .table(answer)));
        return new TextLayout(
                report,
                out -> {
                    notes.forEach(note -> out.println("# " + TextEscape.line(note)));
                    answer.forEach(one -> out.println(TextEscape.line(one.line())));
                });
    }

    /** Presses it, and reads the log until it has been silent for a while. */
    private static List<LogRecord> press(char key) throws IOException {
        List<LogRecord> answer = new ArrayList<>();
        if (!KernelFiles.HERE.has(TRIGGER)) {
            throw new IOException(
                    TRIGGER + " is missing: the kernel is built without" + " CONFIG_MAGIC_SYSRQ");
        }
        try (KernelLog log = KernelLog.open(true)) {
            int fd = FileCalls.open(TRIGGER, FileCalls.O_WRONLY);
            try {
                Fd.writeFully(fd, new byte[] {(byte) key});
            } finally {
                Fd.discard(fd);
            }
            long begin = System.nanoTime();
            long last = begin;
            while (System.nanoTime() - last < QUIET_NANOS
                    && System.nanoTime() - begin < MOST_NANOS
                    && answer.size() < MOST_LINES) {
                Optional<LogRecord> next = log.next();
                if (next.isPresent()) {
                    answer.add(next.get());
                    last = System.nanoTime();
                } else {
                    LockSupport.parkNanos(POLL_NANOS);
                }
            }
            if (log.lost() > 0) {
                answer.add(
                        new LogRecord(
                                4,
                                0,
                                0,
                                "",
                                "sonde: some of the answer was overwritten before it"
                                        + " was read; a larger log_buf_len= keeps it"));
            }
        }
        return answer;
    }
}
