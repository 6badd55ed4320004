package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import sonde.analysis.filter.FilterException;
import sonde.binary.MalformedInputException;
import sonde.bpf.VerifierException;
import sonde.open.BrokenFileException;
import sonde.probe.dynamic.ProbeException;
import sonde.probe.plan.UnknownEventException;
import sonde.probe.tracefs.FilterRefusedException;
import sonde.sys.Errno;
import sonde.sys.SyscallException;
import sonde.tools.bpf.BpfInputException;
import sonde.tools.bpf.BpfUseException;
import sonde.tools.option.OptionException;
import sonde.tools.report.NothingMatchesException;
import sonde.view.TextEscape;
import sonde.view.WrappedText;

/**
 * Turns exceptions into a sentence on standard error and an exit code; {@code --debug}, and
 * SONDE_DEBUG=1 in the environment, add the stack.
 */
final class FailureMessages {
    private static final String FIRST = "sonde: ";
    private static final String INDENT = "       ";

    private FailureMessages() {}

    /** One sentence, broken where the terminal ends. */
    static void say(PrintWriter err, String sentence) {
        err.print(WrappedText.of(FIRST, INDENT, sentence, TerminalKind.width(TerminalKind.STDERR)));
        err.flush();
    }

    /** A sentence, and lines below it that show columns of what was typed. */
    static void sayWithColumns(PrintWriter err, String message) {
        String[] lines = message.split("\n", -1);
        say(err, lines[0]);
        for (int i = 1; i < lines.length; i++) {
            err.println(INDENT + TextEscape.line(lines[i]));
        }
    }

    /**
     * Wrong arguments.
     *
     * @param command its full name: {@code bpf asm}
     */
    static int usage(OptionException failure, String command, PrintWriter err) {
        if (failure.getCause() instanceof FilterException filter) {
            sayWithColumns(err, "--filter: " + filter.getMessage());
            return ExitCode.USAGE;
        }
        say(err, String.valueOf(failure.getMessage()));
        err.println(INDENT + "'sonde " + command + " --help' lists the options");
        return ExitCode.USAGE;
    }

    /** Whatever a command threw. */
    static int execution(Exception failure, String command, boolean debug, PrintWriter err) {
        if (failure instanceof OptionException wrong) {
            return usage(wrong, command, err);
        }
        if (failure instanceof BpfUseException use) {
            return usage(new OptionException(String.valueOf(use.getMessage())), command, err);
        }
        if (System.getenv("SONDE_DEBUG") != null || debug) {
            failure.printStackTrace(err);
        }
        if (failure instanceof IOException && isBrokenPipe(failure)) {
            return ExitCode.DONE;
        }
        if (failure instanceof ProbeException || failure instanceof FilterRefusedException) {
            sayWithColumns(err, message(failure));
            return code(failure);
        }
        say(err, message(failure));
        if (failure instanceof VerifierException verifier) {
            verifier.explanation().lines().stream()
                    .filter(text -> !text.startsWith("verifier: "))
                    .forEach(text -> err.println(INDENT + TextEscape.line(text)));
        }
        return code(failure);
    }

    /** What {@code trace} could not do: its messages are bpftrace's, and are not wrapped. */
    static int unwrapped(String prefix, Exception failure, PrintWriter err) {
        if (isBrokenPipe(failure)) {
            return ExitCode.DONE; // nobody reads any more
        }
        err.println(prefix + failure.getMessage());
        err.flush();
        return ExitCode.IMPOSSIBLE;
    }

    static boolean isBrokenPipe(Exception failure) {
        return failure instanceof SyscallException call
                ? call.errno() == Errno.EPIPE
                : String.valueOf(failure.getMessage()).contains("Broken pipe");
    }

    static String message(Exception failure) {
        return switch (failure) {
            case NoSuchFileException missing -> missing.getFile() + ": no such file";
            case AccessDeniedException denied ->
                    denied.getFile() + ": may not be read by this user";
            case FileAlreadyExistsException there ->
                    there.getFile() + ": is there already; --force overwrites it";
            case NotDirectoryException file -> file.getFile() + ": is not a folder";
            case SyscallException call -> call.sentence();
            case IOException io when io.getMessage() != null -> String.valueOf(io.getMessage());
            case UnknownEventException unknown -> String.valueOf(unknown.getMessage());
            default -> "internal fault: " + failure + "; --debug shows where; please report it";
        };
    }

    private static int code(Exception failure) {
        return switch (failure) {
            case NothingMatchesException _ -> ExitCode.NEGATIVE;
            case BrokenFileException _, BpfInputException _, MalformedInputException _ ->
                    ExitCode.MALFORMED;
            case UnknownEventException _,
                    FilterRefusedException _,
                    NoSuchFileException _,
                    FileAlreadyExistsException _ ->
                    ExitCode.USAGE;
            case IOException _ -> ExitCode.IMPOSSIBLE;
            default -> ExitCode.FAULT;
        };
    }
}
