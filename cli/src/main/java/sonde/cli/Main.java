package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import sonde.cli.ResultPrinter.StandardOutput;
import sonde.event.NearestNames;
import sonde.probe.launch.Leftovers;
import sonde.sys.ProcessCalls;
import sonde.tools.doctor.BugReportRecipe;
import sonde.tools.help.HelpTopics;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.HelpText;
import sonde.tools.option.OptionWords;
import sonde.tools.option.PicocliWords;
import sonde.tools.probe.PerfProbeSyntax;
import sonde.tools.script.ScriptTool;

/**
 * The program: finds the command, runs it, turns what happened into an exit code.
 *
 * <p>Only the model of the command that was named is read.
 */
public final class Main {
    /** Shown by {@code --version} and written into recordings. */
    static final String VERSION = "0.1.0";

    static final String ABOUT = "sonde finds out what a Linux machine is doing and why it is slow.";

    private static final long END_MILLIS = 1000;

    /** What another CPU does meanwhile. */
    private static Thread beside = new Thread();

    private Main() {}

    /** Runs the command line and ends the JVM with its exit code. */
    public static void main(String[] args) {
        StandardOutput stdout = new StandardOutput();
        PrintWriter out = new PrintWriter(stdout, false, StandardCharsets.UTF_8);
        PrintWriter err =
                new PrintWriter(WaitLine.guarded(System.err), true, StandardCharsets.UTF_8);
        int status = bounded(args, out, err);
        awaitBeside();
        out.flush();
        IOException failure = stdout.failure();
        if (failure != null && status == ExitCode.DONE) {
            status = FailureMessages.execution(failure, "", false, err);
        }
        CacheTraining.startWhenWanted();
        if (status != ExitCode.DONE || !isAlone()) {
            System.exit(status);
        }
        // Runtime.exit looks for a logger first, which takes 10 ms; the end of main does not.
    }

    private static int bounded(String[] args, PrintWriter out, PrintWriter err) {
        try {
            return run(args, out, err);
        } catch (OutOfMemoryError e) {
            long megabytes = Runtime.getRuntime().maxMemory() >> 20;
            err.println(
                    "sonde: out of memory: this takes more than the "
                            + megabytes
                            + " MB of heap it has; SONDE_JAVA_FLAGS=-Xmx8g gives it more");
            return ExitCode.IMPOSSIBLE;
        }
    }

    /** Whether no thread is left that the JVM would wait for. */
    private static boolean isAlone() {
        Thread[] threads = new Thread[Thread.activeCount() + 16];
        int count = Thread.enumerate(threads);
        return count < threads.length
                && Arrays.stream(threads, 0, count)
                        .allMatch(one -> one.isDaemon() || one.equals(Thread.currentThread()));
    }

    private static int run(String[] args, PrintWriter out, PrintWriter err) {
        String first = args.length == 0 ? "--help" : args[0];
        switch (first) {
            case "--version", "-V" -> {
                if (args.length > 1 && List.of("-v", "--verbose").contains(args[1])) {
                    return build(err);
                }
                out.println("sonde " + VERSION);
                return ExitCode.DONE;
            }
            case "--help", "-h" -> {
                overview(out);
                return args.length == 0 ? ExitCode.USAGE : ExitCode.DONE;
            }
            case "help" -> {
                return helped(List.of(args).subList(1, args.length), out, err);
            }
            case "--manuals" -> {
                return Manuals.write(List.of(args).subList(1, args.length), err);
            }
            case "--train" -> {
                return CacheTraining.run(List.of(args).subList(1, args.length));
            }
            default -> {}
        }
        if (!List.of(args).contains("--help")) {
            begin(first, args.length > 1 ? args[1] : "");
        }
        List<String> words = List.of(args);
        if (first.equals("probe")) {
            words = PerfProbeSyntax.of(words, ProbeCommand.COMMANDS);
        } else if (first.equals("kernel")) {
            words = KernelCommand.renamed(words);
        }
        boolean below = words.size() > 1 && CommandTable.below(first).contains(words.get(1));
        String name = below ? first + " " + words.get(1) : first;
        Optional<CommandTable.Entry> entry = CommandTable.find(name);
        if (entry.isEmpty()) {
            String what = first.startsWith("-") ? "option" : "command";
            err.println("sonde: no " + what + " is called '" + first + "'" + suggestion(first));
            err.println("       'sonde --help' lists them");
            return ExitCode.USAGE;
        }
        return run(entry.get(), name, words.subList(below ? 2 : 1, words.size()), out, err);
    }

    private static int run(
            CommandTable.Entry entry,
            String name,
            List<String> words,
            PrintWriter out,
            PrintWriter err) {
        if (name.equals("trace")) {
            return TraceCommand.run(words, err);
        }
        if (name.equals("tool")) {
            return ToolCommand.run(words, err);
        }
        CommandModel model = entry.model();
        boolean debug = words.contains("--debug");
        try {
            // trace-cmd's -f belongs to the -e before it, strace's expressions change those before
            // them.
            GivenOptions given =
                    List.of("record", "syscalls", "calls").contains(name)
                            ? OptionWords.read(model, words)
                            : PicocliWords.read(model, words);
            if (given.has("--help")) {
                out.print(help(model, name));
                return ExitCode.DONE;
            }
            if (given.has("--version")) {
                out.println("sonde " + VERSION);
                return ExitCode.DONE;
            }
            given.check();
            try (WaitLine _ = WaitLine.of(name, given.words())) {
                return entry.body().run(new CommandCall(given, out, err));
            }
        } catch (Exception e) {
            return FailureMessages.execution(e, name, debug, err);
        }
    }

    /** {@code sonde --version -v}. */
    private static int build(PrintWriter err) {
        try {
            return ResultPrinter.onOut(BugReportRecipe.build(VERSION), false);
        } catch (IOException e) {
            return FailureMessages.execution(e, "", false, err);
        }
    }

    /** {@code sonde help COMMAND…}, {@code sonde help TOPIC…}. */
    private static int helped(List<String> words, PrintWriter out, PrintWriter err) {
        String first = words.isEmpty() ? "--help" : words.getFirst();
        boolean isOne =
                words.size() < 2
                        || first.equals("tool")
                        || CommandTable.below(first).contains(words.get(1));
        if (first.equals("--help") || isOne && CommandTable.NAMES.contains(first)) {
            List<String> call = new ArrayList<>(words);
            call.add("--help");
            return run(call.toArray(String[]::new), out, err);
        }
        String topic = String.join(" ", words);
        Path pages = Path.of(System.getProperty("sonde.home", "."), "docs");
        int width = TerminalKind.width(TerminalKind.STDOUT);
        try {
            out.print(HelpTopics.read(pages, Manuals::models).answer(topic, width));
            return ExitCode.DONE;
        } catch (IOException e) {
            return FailureMessages.execution(e, "", false, err);
        }
    }

    private static String help(CommandModel model, String name) {
        int columns = TerminalKind.width(TerminalKind.STDOUT);
        String help = HelpText.of(model, columns);
        List<String> below = CommandTable.below(name);
        return below.isEmpty()
                ? help
                : help.replaceFirst(
                        "(?m)^Every command:",
                        Matcher.quoteReplacement(
                                "Commands:\n"
                                        + CommandTable.summaries(below, name, columns)
                                        + "\nEvery command:"));
    }

    /**
     * The first call into the kernel takes 25 ms of linking, which another CPU can do while the
     * words of the command are read; so it can clean up behind killed processes. {@code record} and
     * {@code doctor} do so themselves and say it.
     */
    private static void begin(String command, String below) {
        boolean usesKernel =
                List.of("trace", "tool", "list", "probe", "kernel", "syscalls", "calls")
                                .contains(command)
                        || command.equals("bpf")
                                && !List.of("asm", "disasm", "run", "gen").contains(below);
        Runnable work = usesKernel ? Leftovers::remove : ProcessCalls::getpid;
        if (usesKernel || Runtime.getRuntime().availableProcessors() > 1) {
            beside = Thread.ofPlatform().daemon().name("beside").start(work);
        }
    }

    /** Lets an instance go whole before the process does; usually there is none. */
    private static void awaitBeside() {
        try {
            beside.join(END_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String suggestion(String word) {
        List<String> names = new ArrayList<>(CommandTable.NAMES);
        names.addAll(List.of("--help", "--version"));
        ScriptTool.names().forEach(name -> names.add("tool " + name));
        for (String name : names) {
            if (name.startsWith(word) || name.equals("tool " + word)) {
                return "; did you mean '" + name + "'?";
            }
        }
        return NearestNames.meant(word, names);
    }

    private static void overview(PrintWriter out) {
        out.println(ABOUT);
        out.println();
        out.println("Usage: sonde COMMAND [OPTIONS]");
        out.println();
        out.print(
                CommandTable.summaries(
                        CommandTable.NAMES, "", TerminalKind.width(TerminalKind.STDOUT)));
        out.println();
        out.println(
                "  sonde record -- make -j2       records a build, then says where the time went");
        out.println(
                "  sonde report make.sonde        shows it again; --html FILE makes a page of it");
        out.println("  sonde COMMAND --help           says more");
        out.println(
                "  sonde help TOPIC               answers shortly, or finds words; 'sonde help topics'");
    }

    /** What {@link #run} does, for the training of the start-up cache. */
    static int quietly(String... args) {
        PrintWriter nowhere = new PrintWriter(java.io.Writer.nullWriter());
        return run(args, nowhere, nowhere);
    }
}
