package sonde.tools.calls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.recording.library.LibraryLines.LibraryStyle;
import sonde.recording.syscall.LineStyle;
import sonde.recording.syscall.LineStyle.ClockForm;
import sonde.recording.syscall.LineStyle.LineFilter;
import sonde.recording.syscall.LineStyle.PidForm;
import sonde.recording.syscall.LineStyle.TimeStyle;
import sonde.sys.SyscallException;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.record.UserProcesses;
import sonde.tools.syscalls.CallOutput;

/** The command line of {@code sonde calls}: ltrace's letters with ltrace's meaning. */
public final class CallsArguments {
    /** The options. */
    public static final String MODEL =
            """
            sonde calls [OPTIONS] [--] COMMAND [ARGS...]
            sonde calls [OPTIONS] -p PID

            Show the calls of library functions of a command or a process as ltrace does.

            The functions themselves have probes, so programs that are linked with -z now, stripped, or
            call through pointers show their calls, too. The letters are those of ltrace.

            Arguments:
              -- [COMMAND...]   a command that is started

            What is traced:
              -f, --follow-forks          trace processes that are made, too
              -p, --pid PID,...           trace running processes until they end or you press Ctrl-C
              -e, --expr FILTER           show calls of these functions by these objects: a chain of
                                          [+-][FUNCTION][@OBJECT] with globs or /regular expressions/, as
                                          malloc+free-@libc.so*; MAIN is the program (repeatable,
                                          default @MAIN)
              -u, --user USER             run the command as this user, with the user's groups
              -L, --no-default-filter     show no calls of the program, only what -x names
              -l, --library OBJECT        show calls of functions of this library only (repeatable)
              -x, --entries FILTER        show every call into these functions of these objects, whoever
                                          makes it (repeatable)
              --returns safe|all          see the returns of C functions; safe leaves out those through
                                          which a C++ exception could pass (default safe)

            What is shown:
              -o, --output FILE           write to a file instead of standard error; '|COMMAND' writes to
                                          the input of a command
              --output-append-mode        add to the file
              -s, --string-limit N        show at most N bytes of a string (0..16000, default 32)
              -a, --align N               put the result in column N (0..1000, default 50)
              -n, --indent N              indent nested calls by N blanks (0..20, default 0)
              -i, --caller                show the address to which the function returns
              -C, --demangle              show C++ and Rust names as they are written
              -b, --no-signals            leave out signals
              --json                      print JSON, an object a line for each call

            Counts:
              -c, --summary-only          show counts and times of each function instead of lines
              -S, --summary-sort-by time|min-time|max-time|avg-time|calls|name
                                          sort the counts by this column (default time)

            Times:
              -t                          show the time of day; -tt with microseconds, -ttt seconds
                                          since 1970
              -r                          show the time since the line before
              -T                          show how long each call took

            Examples:
              sonde calls ls                             every library call of ls itself
              sonde calls -x '*@libz.so*' -n2 ./server   every call into one library, nested
              sonde calls -e malloc+free -p 1234         who allocates, as the process runs
              sonde calls -c -x '*@libz.so*' ./server    how often and how long, counted in the kernel
              sonde calls -o calls.txt -T -tt -- make    how long each call took, into a file

            Not in help:
              -A, --array-elements N
              -D, --debug-mask N
              -F, --config FILE
              -w, --where N
              --set-return TEXT

            Exit status:
              that of the command; 128 + N when signal N ended it
            """;

    private CallsArguments() {}

    /** What {@code -o} says; null for standard error. */
    public static @Nullable CallOutput output(GivenOptions given) throws IOException {
        String name = given.text("--output");
        return name == null ? null : CallOutput.open(name, given.has("--output-append-mode"));
    }

    /** The run that the options ask for. */
    public static CallsRun run(GivenOptions given, InheritedState origin) throws IOException {
        return new CallsRun(request(given, origin, command(given)));
    }

    private static @Nullable CommandWords command(GivenOptions given) throws SyscallException {
        List<String> words = given.words();
        boolean dashes = !words.isEmpty() && words.getFirst().equals("--");
        int count = words.size() - (dashes ? 1 : 0);
        return count == 0 ? null : CommandWords.lastArguments(count);
    }

    static CallsRequest request(
            GivenOptions given, InheritedState origin, @Nullable CommandWords words)
            throws IOException {
        refuse(given);
        String user = given.text("--user");
        Set<Integer> pids = Set.copyOf(given.numbers("--pid"));
        if (words == null && pids.isEmpty()) {
            throw new OptionException("name a command to start, or a process: -p PID");
        }
        List<String> calls = given.texts("--expr");
        LibraryChoice.Wanted wanted =
                new LibraryChoice.Wanted(
                        calls.isEmpty() && !given.has("--no-default-filter")
                                ? CallRules.ofMain()
                                : CallRules.parse("-e", calls),
                        CallRules.parse("-x", given.texts("--entries")),
                        CallRules.parse(
                                "-l",
                                given.texts("--library").stream().map(one -> "@" + one).toList()),
                        !calls.isEmpty(),
                        given.text("--returns", "safe").equals("all"),
                        user != null,
                        (int) given.number("--string-limit").orElse(32));
        boolean toFile = given.has("--output");
        PidForm pid = toFile && pids.size() > 1 ? PidForm.PLAIN : PidForm.BRACKETS;
        LineStyle lines = new LineStyle(pid, times(given), false, false, everything());
        LibraryStyle style =
                new LibraryStyle(
                        lines,
                        (int) given.number("--align").orElse(50),
                        (int) given.number("--indent").orElse(0),
                        !given.has("--no-signals"),
                        given.has("--caller"));
        return new CallsRequest(
                origin,
                words == null || user == null ? words : changingTo(user, words),
                pids,
                given.has("--follow-forks"),
                wanted,
                style,
                given.has("--demangle"),
                given.has("--summary-only") ? given.text("--summary-sort-by", "time") : null);
    }

    private static void refuse(GivenOptions given) {
        Map<String, String> reasons =
                Map.of(
                        "--array-elements",
                        "-A: no elements of arrays are shown, but their address",
                        "--debug-mask",
                        "-D: it prints the inside of ltrace; --debug shows the stack of an error",
                        "--config",
                        "-F: types come from the table of sonde and from debugging information,"
                                + " not from files of ltrace",
                        "--where",
                        "-w: stacks of calls are not taken; 'sonde record -T' takes those of probes,"
                                + " -i shows the caller",
                        "--set-return",
                        "--set-return: the kernel's probes read the program and do not change it;"
                                + " 'sonde syscalls -e inject=' changes the results of system calls");
        reasons.forEach((option, reason) -> {
            if (given.has(option)) {
                throw new OptionException(reason);
            }
        });
    }

    /** Another program changes the user and executes the command. */
    private static CommandWords changingTo(String user, CommandWords command) throws IOException {
        List<byte[]> words = new ArrayList<>();
        for (String word :
                List.of(
                        LibraryChoice.STARTER,
                        "--reuid",
                        user,
                        "--regid",
                        Integer.toString(UserProcesses.group(user)),
                        "--init-groups",
                        "--")) {
            words.add(word.getBytes(StandardCharsets.UTF_8));
        }
        words.addAll(command.words());
        return new CommandWords(words);
    }

    private static LineFilter everything() {
        return new LineFilter(new BitSet(), new BitSet(), Set.of(), Set.of(), null, 0, true, true);
    }

    private static TimeStyle times(GivenOptions given) {
        int letters = (int) given.options().stream().filter(one -> one.has("-t")).count();
        ClockForm clock =
                letters == 0 ? ClockForm.NONE : letters > 2 ? ClockForm.UNIX : ClockForm.TIME;
        return new TimeStyle(
                clock, letters > 1 ? 6 : 0, given.has("-r") ? 6 : -1, given.has("-T") ? 6 : -1);
    }
}
