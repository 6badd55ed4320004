package sonde.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import sonde.format.Nearest;
import sonde.sys.Processes;
import sonde.tools.script.ScriptTool;

/**
 * The program: finds the command, runs it, turns what happened into an exit code.
 *
 * <p>Only the command that was named is built: picocli reads each option by reflection, which for
 * all commands together would be most of the start.
 */
public final class Main {
    /** Shown by {@code --version} and written into recordings. */
    static final String VERSION = "0.1.0";

    private record Entry(String name, String summary, Supplier<Callable<Integer>> make) {}

    private static final List<Entry> COMMANDS =
            List.of(
                    new Entry(
                            "record",
                            "record a command, a process or the machine into NAME.sonde",
                            RecordCommand::new),
                    new Entry(
                            "report",
                            "show where the time went in a recording: text, JSON or a page",
                            ReportCommand::new),
                    new Entry(
                            "convert",
                            "write a recording in the format of another tool",
                            ConvertCommand::new),
                    new Entry(
                            "query",
                            "ask recordings in SQL: every event type is a table",
                            QueryCommand::new),
                    new Entry(
                            "list",
                            "list the events that can be recorded, with their fields",
                            ListCommand::new),
                    new Entry(
                            "probe",
                            "set probes at lines of source, with variables",
                            ProbeCommand::new),
                    new Entry(
                            "elf",
                            "say what is in a program, library or kernel module",
                            ElfCommand::new),
                    new Entry(
                            "symbolize",
                            "say which function, file and line addresses come from",
                            SymbolizeCommand::new),
                    new Entry(
                            "bpf",
                            "assemble and run eBPF programs; show what BPF this machine has",
                            BpfCommand::new),
                    new Entry(
                            "doctor",
                            "say what this machine allows and what each gap costs",
                            DoctorCommand::new));

    private Main() {}

    /** Runs the command line and ends the JVM with its exit code. */
    public static void main(String[] args) {
        PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int status = bounded(args, out, err);
        out.flush();
        Training.startWhenWanted();
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
                out.println("sonde " + VERSION);
                return ExitCode.DONE;
            }
            case "--help", "-h" -> {
                overview(out);
                return args.length == 0 ? ExitCode.USAGE : ExitCode.DONE;
            }
            case "help" -> {
                return args.length == 1
                        ? run(new String[] {"--help"}, out, err)
                        : run(new String[] {args[1], "--help"}, out, err);
            }
            case "--train" -> {
                return Training.run(List.of(args).subList(1, args.length));
            }
            default -> {}
        }
        linkCalls();
        if (first.equals("trace")) {
            return TraceCommand.run(List.of(args).subList(1, args.length), err);
        }
        if (first.equals("tool")) {
            return ToolCommand.run(List.of(args).subList(1, args.length), err);
        }
        Optional<Entry> entry = entry(first);
        if (entry.isEmpty()) {
            String what = first.startsWith("-") ? "option" : "command";
            err.println("sonde: no " + what + " is called '" + first + "'" + suggestion(first));
            err.println("       'sonde --help' lists them");
            return ExitCode.USAGE;
        }
        CommandLine line = new CommandLine(entry.get().make().get());
        if (first.equals("bpf")) {
            BpfCommand.addCommands(line, args.length > 1 ? args[1] : "");
        }
        if (first.equals("report")) {
            ReportCommand.addSections(line.getCommandSpec());
        }
        String[] words = args;
        if (first.equals("probe")) {
            words = ProbeCommand.words(args);
            ProbeCommand.addCommands(line, words.length > 1 ? words[1] : "");
        }
        line.setCommandName("sonde " + first)
                .setOut(out)
                .setErr(err)
                .setStopAtPositional(first.equals("record"))
                .setUsageHelpAutoWidth(true)
                .setParameterExceptionHandler(Failures::usage)
                .setExecutionExceptionHandler(Failures::execution);
        line.getCommandSpec().addOption(Failures.debugOption());
        line.getSubcommands()
                .values()
                .forEach(sub -> sub.getCommandSpec().addOption(Failures.debugOption()));
        return line.execute(Arrays.copyOfRange(words, 1, words.length));
    }

    /**
     * The first call into the kernel takes 25 ms of linking, which another CPU can do while the
     * words of the command are read.
     */
    private static void linkCalls() {
        if (Runtime.getRuntime().availableProcessors() > 1) {
            Thread.ofPlatform().daemon().name("link").start(Processes::getpid);
        }
    }

    private static Optional<Entry> entry(String name) {
        return COMMANDS.stream().filter(entry -> entry.name().equals(name)).findFirst();
    }

    private static String suggestion(String word) {
        List<String> names = new ArrayList<>(List.of("trace", "tool", "--help", "--version"));
        COMMANDS.forEach(entry -> names.add(entry.name()));
        ScriptTool.names().forEach(name -> names.add("tool " + name));
        for (String name : names) {
            if (name.startsWith(word) || name.equals("tool " + word)) {
                return "; did you mean '" + name + "'?";
            }
        }
        return Nearest.meant(word, names);
    }

    private static void overview(PrintWriter out) {
        out.println("sonde finds out what a Linux machine is doing and why it is slow.");
        out.println();
        out.println("Usage: sonde COMMAND [OPTIONS]");
        out.println();
        for (Entry entry : COMMANDS) {
            out.printf("  %-10s %s%n", entry.name(), entry.summary());
        }
        out.printf("  %-10s %s%n", "trace", "run a program of bpftrace's language");
        out.printf("  %-10s %s%n", "tool", "run a ready script: sonde tool --list");
        out.println();
        out.println(
                "  sonde record -- make -j2       records a build, then says where the time went");
        out.println(
                "  sonde report make.sonde        shows it again; --html FILE makes a page of it");
        out.println("  sonde COMMAND --help           says more");
    }

    /** What {@link #run} does, for the training of the start-up cache. */
    static int quietly(String... args) {
        PrintWriter nowhere = new PrintWriter(java.io.Writer.nullWriter());
        return run(args, nowhere, nowhere);
    }
}
