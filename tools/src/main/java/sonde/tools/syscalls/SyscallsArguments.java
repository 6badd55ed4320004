package sonde.tools.syscalls;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.recording.syscall.CallStyle;
import sonde.recording.syscall.CallStyle.ConstantForm;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.LineStyle;
import sonde.recording.syscall.LineStyle.ClockForm;
import sonde.recording.syscall.LineStyle.LineFilter;
import sonde.recording.syscall.LineStyle.PidForm;
import sonde.recording.syscall.LineStyle.TimeStyle;
import sonde.sys.SyscallException;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.syscalls.SyscallsRequest.CountForm;

/** The command line of {@code sonde syscalls}: strace's letters with strace's meaning. */
public final class SyscallsArguments {
    /** The options. */
    public static final String MODEL =
            """
            sonde syscalls [OPTIONS] [--] COMMAND [ARGS...]
            sonde syscalls [OPTIONS] -p PID

            Show the system calls of a command or a process as strace does, without stopping it.

            The kernel copies the arguments while the program runs at its own speed; the lines follow
            a moment later. The letters are those of strace.

            Arguments:
              -- [COMMAND...]   a command that is started

            What is started:
              -E, --env NAME[=VALUE]      set a variable of the command's environment, or remove it
                                          (repeatable)
              --argv0 NAME                give the command this name

            What is traced:
              -f, --follow-forks          trace children and all threads, too; -ff with -o FILE writes
                                          a file FILE.TID for each thread
              --output-separately         write a file for each thread, as -ff does
              -p, --pid PID,...           trace running processes until they end or you press Ctrl-C
              -e, --expr EXPR             apply trace=SET, signal=SET, status=SET, quiet=SET, abbrev=SET,
                                          verbose=SET, raw=SET, read=SET, write=SET or decode-fds=SET; a
                                          SET alone is one of calls: openat,%network,/^sched_ or !poll
                                          (repeatable)
              --trace SET                 show these calls only
              --signal SET                show these signals only
              --status SET                show calls with these results: successful, failed, unfinished
              -z, --successful-only       show calls that succeeded
              -Z, --failed-only           show calls that failed
              -P, --trace-path PATH       show calls that name this file, or use a descriptor of it
                                          (repeatable)
              --trace-fds SET             show calls that use these descriptors only
              --slower TIME               show calls that took at least this long, as 10ms
              --syscall-limit N           end after N calls (at least 1)
              -b, --detach-on execve      stop to trace a process when it executes another program

            What is shown:
              -o, --output FILE           write to a file instead of standard error; '|COMMAND' writes to
                                          the input of a command
              -A, --output-append-mode    add to the file
              -s, --string-limit N        show at most N bytes of a string (0..16000, default 32)
              -v, --no-abbrev             show all fields of structures
              --abbrev SET                show all fields of structures of calls outside of this set
              --verbose SET               show structures of these calls only
              --raw SET                   show the arguments of these calls as numbers
              --read SET                  show the data that are read from these descriptors
              --write SET                 show the data that are written to these descriptors
              -x, --hex-strings           print strings with bytes that are not ASCII in hexadecimal;
                                          -xx prints all strings so
              --strings-in-hex[=FORM]     the same: non-ascii-chars, non-ascii or all
              -X, --const-print-style raw|abbrev|verbose
                                          print constants as numbers, as names or as both
                                          (default abbrev)
              -y                          show the path behind each descriptor; -yy also addresses of
                                          sockets and numbers of devices
              --decode-fds[=SET]          show path, socket, dev or pidfd of descriptors
              -Y                          show the name of each process
              --decode-pids SET           show these details of processes: comm
              -N, --arg-names             show the names of arguments
              -a, --columns N             put the result in column N (0..1000, default 40)
              -n, --syscall-number        show the number of each call
              -i, --instruction-pointer   show the instruction pointer
              --always-show-pid           show the number of the thread, also of a single one
              -q                          leave out messages of attaching; -qq the ends of threads, too;
                                          -qqq all messages
              --quiet SET                 leave out these messages: attach, exit, path-resolution,
                                          personality, thread-execve
              --json                      print JSON, an object a line for each call

            Times:
              -t                          show the time of day; -tt with microseconds, -ttt seconds
                                          since 1970
              --absolute-timestamps[=FORMAT]
                                          the same: none, time or unix, and s, ms, us or ns
              -r                          show the time since the line before
              --relative-timestamps[=UNIT]
                                          the same with s, ms, us or ns
              -T                          show how long each call took
              --syscall-times[=UNIT]      the same with s, ms, us or ns

            Counts:
              -c, --summary-only          show counts, times and errors of each call instead of lines
              -C, --summary               show both
              -S, --summary-sort-by time|min-time|max-time|avg-time|calls|errors|name|none|nothing
                                          sort the counts by this column (default time)
              -U, --summary-columns COLUMN,...
                                          show these columns: time-percent, total-time, min-time,
                                          max-time, avg-time, calls, errors, name
              -w, --summary-wall-clock    count elapsed time, which is always done

            Without effect:
              --seccomp-bpf               calls that are not wanted are always left out in the kernel
              -I, --interruptible N       signals are never held back (1..4)
              -O, --summary-syscall-overhead TIME
                                          counts have the kernel's times, in which no tracer waits

            Examples:
              sonde syscalls ls                          every call with its arguments
              sonde syscalls -f -o make.txt -- make -j2  a build with all its processes
              sonde syscalls -e openat,%network -Z ssh host    which files and hosts it does not get
              sonde syscalls -c -p 1234                  what a process asks of the kernel
              sonde syscalls -T -tt -e fsync -f -p 1234  how long each fsync takes
              sonde syscalls -yy -P /etc/hosts -f ssh host    who reads a file, through which descriptor

            Old spellings:
              --attach = --pid
              --timestamps = --absolute-timestamps

            Not in help:
              -D, --daemonize[=HOW]
              --kill-on-exit
              -u, --user NAME

            Exit status:
              that of the command; 128 + N when signal N ended it
            """;

    private SyscallsArguments() {}

    /** The request that the options make. */
    public static SyscallsRequest request(GivenOptions given, InheritedState origin)
            throws SyscallException {
        List<String> words = given.words();
        boolean dashes = !words.isEmpty() && words.getFirst().equals("--");
        int count = words.size() - (dashes ? 1 : 0);
        return request(given, origin, count == 0 ? null : CommandWords.lastArguments(count));
    }

    /** The request for a command, whatever words were given. */
    static SyscallsRequest request(
            GivenOptions given, InheritedState origin, @Nullable CommandWords words) {
        Set<Integer> pids = Set.copyOf(given.numbers("--pid"));
        if (words == null && pids.isEmpty()) {
            throw new OptionException("name a command to start, or a process: -p PID");
        }
        refuse(given);
        CallTable table = CallTable.read();
        CallSelection selection = selection(given, table);
        boolean follow = given.has("--follow-forks");
        String output = given.text("--output");
        boolean pipe = output != null && (output.startsWith("|") || output.startsWith("!"));
        boolean apart = times(given, "--follow-forks") > 1 || given.has("--output-separately");
        Path separate = apart && follow && !pipe && output != null ? Path.of(output) : null;
        PidForm pid = PidForm.NONE;
        if (separate == null && (follow || pids.size() > 1 || given.has("--always-show-pid"))) {
            boolean always = given.has("--always-show-pid");
            pid = output != null ? PidForm.PLAIN : always ? PidForm.ALWAYS : PidForm.BRACKETS;
        }
        LineStyle lines =
                new LineStyle(
                        pid,
                        times(given),
                        given.has("--instruction-pointer"),
                        given.has("--syscall-number"),
                        filter(given, selection));
        boolean both = given.has("--summary");
        CountForm counts =
                both || given.has("--summary-only")
                        ? new CountForm(
                                both,
                                given.text("--summary-sort-by", "time"),
                                columns(given.texts("--summary-columns")))
                        : null;
        return new SyscallsRequest(
                started(given, origin),
                words == null ? null : command(given, words),
                pids,
                follow,
                table,
                style(given, selection),
                lines,
                counts,
                separate,
                given.number("--syscall-limit").orElse(Long.MAX_VALUE),
                given.has("--detach-on"));
    }

    private static void refuse(GivenOptions given) {
        if (given.has("--daemonize")) {
            throw new OptionException(
                    "-D: the command is always a child of sonde, which does not stop it; start"
                            + " sonde in the background instead: sonde syscalls -o FILE ... &");
        }
        String user = given.text("--user");
        if (user != null) {
            throw new OptionException(
                    "-u: let another program change the user: sonde syscalls -f -- setpriv --reuid "
                            + user
                            + " --init-groups COMMAND");
        }
        if (given.has("--kill-on-exit")) {
            throw new OptionException(
                    "--kill-on-exit: the kernel kills a program with its tracer only when it is"
                            + " traced by ptrace; here it runs on");
        }
        if (given.has("--detach-on") && !"execve".equals(given.text("--detach-on"))) {
            throw new OptionException("-b takes execve, as in strace");
        }
    }

    /** The environment and the user of the command. */
    private static InheritedState started(GivenOptions given, InheritedState origin) {
        InheritedState state = origin;
        for (String variable : given.texts("--env")) {
            int equals = variable.indexOf('=');
            state =
                    equals < 0
                            ? state.withVariable(variable, null)
                            : state.withVariable(
                                    variable.substring(0, equals), variable.substring(equals + 1));
        }
        return state;
    }

    private static CommandWords command(GivenOptions given, CommandWords words) {
        String name = given.text("--argv0");
        return name == null ? words : words.called(name);
    }

    private static List<String> columns(List<String> names) {
        for (String name : names) {
            if (!SyscallsRequest.COLUMNS.contains(name)) {
                throw new OptionException(
                        "-U: '%s' is none of %s"
                                .formatted(name, String.join(", ", SyscallsRequest.COLUMNS)));
            }
        }
        return names;
    }

    private static CallStyle style(GivenOptions given, CallSelection selection) {
        int hex = times(given, "--hex-strings");
        if (given.has("--strings-in-hex")) {
            hex =
                    switch (given.text("--strings-in-hex", "")) {
                        case "non-ascii-chars" -> 3;
                        case "non-ascii" -> 1;
                        case "", "all" -> 2;
                        case "none" -> 0;
                        default ->
                                throw new OptionException(
                                        "--strings-in-hex takes non-ascii-chars, non-ascii or all");
                    };
        }
        return new CallStyle(
                (int) given.number("--string-limit").orElse(32),
                Math.min(hex, 3),
                (int) given.number("--columns").orElse(40),
                ConstantForm.valueOf(
                        given.text("--const-print-style", "abbrev").toUpperCase(Locale.ROOT)),
                given.has("--arg-names"),
                selection.forms(),
                selection.descriptors(),
                selection.dumpRead(),
                selection.dumpWrite());
    }

    private static LineFilter filter(GivenOptions given, CallSelection selection) {
        Set<String> paths = new HashSet<>();
        for (String path : given.texts("--trace-path")) {
            paths.add(path);
            try {
                paths.add(Path.of(path).toRealPath().toString());
            } catch (IOException | InvalidPathException e) {
                continue; // the file may come later
            }
        }
        String descriptors = given.text("--trace-fds");
        return new LineFilter(
                selection.calls(),
                selection.signals(),
                selection.statuses(),
                paths,
                descriptors == null ? null : CallSelection.descriptors("--trace-fds", descriptors),
                given.nanos("--slower").orElse(0),
                !selection.isQuiet("exit"),
                !selection.isQuiet("thread-execve"));
    }

    private static CallSelection selection(GivenOptions given, CallTable table) {
        CallSelection selection = new CallSelection(table);
        int quiet = times(given, "-q");
        if (quiet > 0) {
            selection.quiet(quiet);
        }
        if (given.has("-y")) {
            selection.details(times(given, "-y") > 1 ? "all" : "path");
        }
        if (given.has("-Y")) {
            selection.processes("comm");
        }
        for (GivenOptions.Given one : given.options()) {
            String value = one.value();
            switch (one.option().name()) {
                case "--expr" -> selection.expression(value);
                case "--trace" -> selection.trace(value);
                case "--signal" -> selection.signal(value);
                case "--status" -> selection.status(value);
                case "--successful-only" -> selection.status("successful");
                case "--failed-only" -> selection.status("failed");
                case "--quiet" -> selection.quiet(value);
                case "--no-abbrev" -> selection.verbose();
                case "--abbrev", "--verbose", "--raw", "--read", "--write" ->
                        selection.expression(one.option().name().substring(2) + "=" + value);
                case "--decode-fds" -> selection.details(value);
                case "--decode-pids" -> selection.processes(value);
                default -> {}
            }
        }
        return selection;
    }

    private static int times(GivenOptions given, String name) {
        return (int) given.options().stream().filter(one -> one.has(name)).count();
    }

    private static TimeStyle times(GivenOptions given) {
        ClockForm clock = ClockForm.NONE;
        int digits = 0;
        int letters = times(given, "-t");
        if (letters > 0) {
            clock = letters > 2 ? ClockForm.UNIX : ClockForm.TIME;
            digits = letters > 1 ? 6 : 0;
        }
        if (given.has("--absolute-timestamps")) {
            clock = ClockForm.TIME;
            for (String word : given.text("--absolute-timestamps", "").split(",")) {
                String value = word.replaceFirst("^(format|precision):", "");
                switch (value) {
                    case "none" -> clock = ClockForm.NONE;
                    case "", "time" -> clock = ClockForm.TIME;
                    case "unix" -> clock = ClockForm.UNIX;
                    default -> digits = digits("--absolute-timestamps", value);
                }
            }
        }
        int since = given.has("-r") ? 6 : -1;
        if (given.has("--relative-timestamps")) {
            since = digits("--relative-timestamps", given.text("--relative-timestamps", ""));
        }
        int duration = given.has("-T") ? 6 : -1;
        if (given.has("--syscall-times")) {
            duration = digits("--syscall-times", given.text("--syscall-times", ""));
        }
        return new TimeStyle(clock, digits, since, duration);
    }

    private static int digits(String option, String unit) {
        return switch (unit) {
            case "s" -> 0;
            case "ms" -> 3;
            case "", "us" -> 6;
            case "ns" -> 9;
            default ->
                    throw new OptionException(option + ": '" + unit + "' is none of s, ms, us, ns");
        };
    }
}
