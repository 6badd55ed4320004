package sonde.tools.syscalls;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.recording.syscall.CallStyle;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.LineStyle;
import sonde.recording.syscall.LineStyle.PidForm;
import sonde.recording.syscall.LineStyle.TimeForm;
import sonde.sys.SyscallException;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.syscalls.SyscallsRequest.Backend;
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

            What is traced:
              -f, --follow-forks          trace children and all threads, too; -ff with -o FILE writes
                                          a file FILE.TID for each thread
              -p, --pid PID,...           trace running processes until they end or you press Ctrl-C
              -e, --expr EXPR             apply trace=SET, signal=SET, status=SET, quiet=SET or
                                          inject=SET:WHAT; a SET
                                          alone is one of calls: openat,%network,/^sched_ or !poll
                                          (repeatable)
              --trace SET                 show these calls only
              --signal SET                show these signals only
              --status SET                show calls with these results: successful, failed, unfinished
              -z, --successful-only       show calls that succeeded
              -Z, --failed-only           show calls that failed
              --backend auto|bpf|ptrace   capture by BPF programs, or stop the program at each call;
                                          auto takes ptrace where BPF is refused (default auto)

            What is changed (stops the program at each call):
              --inject SET:WHAT...        change these calls: error=ENOENT, retval=N, signal=S,
                                          syscall=C, delay_enter=5ms, delay_exit=5ms,
                                          poke_exit=@arg2=4142, when=FIRST+STEP (repeatable)
              --fault SET[:error=E]       let these calls fail, with ENOSYS or that error

            What is shown:
              -o, --output FILE           write to a file instead of standard error
              -s, --string-limit N        show at most N bytes of a string (0..16000, default 32)
              -v, --no-abbrev             show all fields of structures
              -x, --hex-strings           print strings with bytes that are not ASCII in hexadecimal;
                                          -xx prints all strings so
              -a, --columns N             put the result in column N (0..1000, default 40)
              -n, --syscall-number        show the number of each call
              -i, --instruction-pointer   show the instruction pointer
              -q, --quiet                 leave out the ends of threads
              --json                      print JSON, an object a line for each call

            Times:
              -t, --absolute-timestamps   show the time of day; -tt with microseconds, -ttt seconds
                                          since 1970
              -r, --relative-timestamps   show the time since the line before
              -T, --syscall-times         show how long each call took

            Counts:
              -c, --summary-only          show counts, times and errors of each call instead of lines
              -C, --summary               show both
              -S, --summary-sort-by time|min-time|max-time|avg-time|calls|errors|name|none
                                          sort the counts by this column (default time)
              -w, --summary-wall-clock    count elapsed time, which is always done

            Examples:
              sonde syscalls ls                          every call with its arguments
              sonde syscalls -f -o make.txt -- make -j2  a build with all its processes
              sonde syscalls -e openat,%network -Z ssh host    which files and hosts it does not get
              sonde syscalls -c -p 1234                  what a process asks of the kernel
              sonde syscalls -e inject=openat:error=EIO:when=3+ ls    how it bears failures
              sonde syscalls -T -tt -e fsync -f -p 1234  how long each fsync takes

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
        Set<Integer> pids = Set.copyOf(given.numbers("--pid"));
        if (count == 0 && pids.isEmpty()) {
            throw new OptionException("name a command to start, or a process: -p PID");
        }
        CallTable table = CallTable.read();
        CallSelection selection = selection(given, table);
        int limit = (int) given.number("--string-limit").orElse(32);
        CallStyle style =
                new CallStyle(
                        limit,
                        given.has("--no-abbrev"),
                        times(given, "--hex-strings"),
                        (int) given.number("--columns").orElse(40),
                        CallStyle.DEFAULT.names());
        boolean follow = given.has("--follow-forks");
        Path file = given.path("--output");
        Path separate = times(given, "--follow-forks") > 1 ? file : null;
        LineStyle lines =
                new LineStyle(
                        follow && file != null
                                ? separate == null ? PidForm.PLAIN : PidForm.NONE
                                : follow || pids.size() > 1 ? PidForm.BRACKETS : PidForm.NONE,
                        time(given),
                        given.has("--syscall-times"),
                        given.has("--instruction-pointer"),
                        given.has("--syscall-number"),
                        selection.calls(),
                        selection.signals(),
                        selection.statuses(),
                        selection.exits());
        boolean both = given.has("--summary");
        CountForm counts =
                both || given.has("--summary-only")
                        ? new CountForm(both, given.text("--summary-sort-by", "time"))
                        : null;
        Backend backend = Backend.valueOf(given.text("--backend", "auto").toUpperCase(Locale.ROOT));
        if (!selection.injections().isEmpty()) {
            if (backend == Backend.BPF) {
                throw new OptionException("--backend=bpf cannot change calls; ptrace can");
            }
            backend = Backend.PTRACE;
        }
        return new SyscallsRequest(
                origin,
                count == 0 ? null : CommandWords.lastArguments(count),
                pids,
                follow,
                table,
                style,
                lines,
                counts,
                separate,
                backend,
                selection.injections());
    }

    private static CallSelection selection(GivenOptions given, CallTable table) {
        CallSelection selection = new CallSelection(table);
        for (GivenOptions.Given one : given.options()) {
            switch (one.option().name()) {
                case "--expr" -> selection.expression(one.value());
                case "--trace" -> selection.trace(one.value());
                case "--signal" -> selection.signal(one.value());
                case "--status" -> selection.status(one.value());
                case "--successful-only" -> selection.status("successful");
                case "--failed-only" -> selection.status("failed");
                case "--inject" -> selection.expression("inject=" + one.value());
                case "--fault" -> selection.expression("fault=" + one.value());
                case "--quiet" -> selection.quiet();
                default -> {}
            }
        }
        return selection;
    }

    private static int times(GivenOptions given, String name) {
        return (int) given.options().stream().filter(one -> one.has(name)).count();
    }

    private static TimeForm time(GivenOptions given) {
        return given.has("--relative-timestamps")
                ? TimeForm.RELATIVE
                : switch (times(given, "--absolute-timestamps")) {
                    case 0 -> TimeForm.NONE;
                    case 1 -> TimeForm.CLOCK;
                    case 2 -> TimeForm.CLOCK_MICROS;
                    default -> TimeForm.EPOCH;
                };
    }
}
