package sonde.tools.kernel;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.probe.printk.KernelLog;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;
import sonde.tools.kernel.MemoryLeak.LeakGroup;
import sonde.tools.option.OptionException;
import sonde.view.TextEscape;

/** Works with the kernel's leak detector (Documentation/dev-tools/kmemleak.rst). */
public final class KmemleakRecipe {
    private static final String FILE = KernelFiles.DEBUGFS + "/kmemleak";
    private static final int MOST_BYTES = 64 << 20;

    /** Objects younger than MSECS_MIN_AGE (5 s) of mm/kmemleak.c are not reported. */
    private static final long AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(5_500);

    private KmemleakRecipe() {}

    /** Why it cannot be used; passes where it can. */
    private static void require() throws IOException {
        KernelFiles files = KernelFiles.HERE;
        if (files.has(FILE)) {
            return;
        }
        KernelConfig config = files.config();
        throw new IOException(
                files.names(KernelFiles.DEBUGFS).isEmpty()
                        ? FILE + " cannot be read: as root, mount -t debugfs none /sys/kernel/debug"
                        : config.isKnown() && !config.isSet("DEBUG_KMEMLEAK")
                                ? "this kernel is built without CONFIG_DEBUG_KMEMLEAK ("
                                        + config.source()
                                        + ")"
                                : FILE
                                        + " is missing: the kernel is built without"
                                        + " CONFIG_DEBUG_KMEMLEAK, or was booted with kmemleak=off");
    }

    /**
     * Scans memory, and shows what has no reference.
     *
     * @param once whether one scan is enough; objects are reported from the second one on that they
     *     were in, when they are 5 s old
     */
    public static Result scan(boolean once) throws IOException {
        require();
        write("scan");
        if (!once) {
            long until = System.nanoTime() + AGE_NANOS;
            while (System.nanoTime() < until) {
                LockSupport.parkNanos(until - System.nanoTime());
            }
            write("scan");
        }
        return show();
    }

    /** What the scans found so far. */
    public static Result show() throws IOException {
        require();
        byte[] bytes = FileCalls.readAll(FILE, MOST_BYTES);
        return shown(new String(bytes, StandardCharsets.UTF_8));
    }

    /** Forgets what was found, so that only later leaks are shown. */
    public static Result clear() throws IOException {
        require();
        write("clear");
        return said("what was found so far is not shown any more");
    }

    /** What the kernel knows of an object, which it prints in its log. */
    public static Result dump(String address) throws IOException {
        if (!address.matches("(0x)?[0-9a-fA-F]{1,16}")) {
            throw new OptionException("'" + address + "' is not an address");
        }
        require();
        List<String> lines = new ArrayList<>();
        try (KernelLog log = KernelLog.open(true)) {
            write("dump=" + (address.startsWith("0x") ? "" : "0x") + address);
            for (var next = log.next(); next.isPresent(); next = log.next()) {
                lines.add(next.get().text());
            }
        }
        return new TextLayout(
                new TableBuilder<String>("object").text("message", line -> line).table(lines),
                out -> lines.forEach(line -> out.println(TextEscape.line(line))));
    }

    /** The kernel's own scans: off, on, or every so many seconds. */
    public static Result auto(String word) throws IOException {
        if (!word.matches("on|off|[1-9]\\d{0,6}")) {
            throw new OptionException("auto takes on, off or seconds, not '" + word + "'");
        }
        require();
        write("scan=" + word);
        return said(
                switch (word) {
                    case "on" -> "the kernel scans by itself, every 10 minutes unless set before";
                    case "off" -> "the kernel scans no more by itself; 'scan' still does";
                    default -> "the kernel scans by itself every " + word + " s";
                });
    }

    private static Result said(String sentence) {
        return new Report("kmemleak", List.of(sentence), List.of());
    }

    private static void write(String command) throws IOException {
        int fd = FileCalls.open(FILE, FileCalls.O_WRONLY);
        try {
            Fd.writeFully(fd, command.getBytes(StandardCharsets.US_ASCII));
        } catch (SyscallException e) {
            throw new IOException(
                    "the kernel refused '%s' (%s); kmemleak is off after kmemleak=off or when its"
                                    .formatted(command, e.getMessage())
                            + " memory ran out",
                    e);
        } finally {
            Fd.discard(fd);
        }
    }

    static Result shown(String text) {
        List<MemoryLeak> leaks = MemoryLeak.parse(text);
        List<LeakGroup> groups = MemoryLeak.groups(leaks);
        long bytes = leaks.stream().mapToLong(MemoryLeak::sizeBytes).sum();
        String note =
                leaks.isEmpty()
                        ? "kmemleak reports no leak; an object is reported from its second scan on,"
                                + " when it is 5 s old"
                        : "%d objects of %d bytes without a reference, from %d places"
                                .formatted(leaks.size(), bytes, groups.size());
        Report report =
                new Report(
                        "kmemleak",
                        List.of(note),
                        List.of(
                                new TableBuilder<LeakGroup>("leaks")
                                        .count("objects", one -> (long) one.leaks().size())
                                        .bytes("size", one -> one.first().sizeBytes())
                                        .bytes("total", LeakGroup::bytes)
                                        .text("allocated by", LeakGroup::culprit)
                                        .text("command", one -> one.first().comm())
                                        .id("pid", one -> one.first().pid())
                                        .text("first object", one -> one.first().address())
                                        .text(
                                                "stack",
                                                one -> String.join("; ", one.first().stack()))
                                        .table(groups)));
        return new TextLayout(
                report,
                out -> {
                    out.println(note);
                    for (LeakGroup one : groups) {
                        MemoryLeak first = one.first();
                        String line =
                                "%d × %d bytes = %d, by %s (%d), first %s"
                                        .formatted(
                                                one.leaks().size(),
                                                first.sizeBytes(),
                                                one.bytes(),
                                                first.comm(),
                                                first.pid(),
                                                first.address());
                        out.println();
                        out.println(TextEscape.line(line));
                        for (String frame : first.stack()) {
                            String mark = frame.equals(one.culprit()) ? " > " : "   ";
                            out.println(mark + TextEscape.line(frame));
                        }
                    }
                });
    }
}
