package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import sonde.analysis.filter.FilterException;
import sonde.format.MalformedInputException;
import sonde.probe.plan.UnknownEventException;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * Turns exceptions into one or two lines and an exit code; {@code SONDE_DEBUG=1} adds the stack.
 */
final class Failures {
    private Failures() {}

    /** Wrong arguments. */
    static int usage(ParameterException failure, String[] args) {
        CommandLine line = failure.getCommandLine();
        PrintWriter err = line.getErr();
        String message =
                failure.getCause() instanceof FilterException filter
                        ? "--filter: " + filter.getMessage() // its caret points at a column
                        : String.valueOf(failure.getMessage())
                                .strip()
                                .replaceAll("\\s*\\R\\s*", " ");
        err.println("sonde: " + message);
        if (!CommandLine.UnmatchedArgumentException.printSuggestions(failure, err)) {
            err.println("       '" + line.getCommandName() + " --help' lists the options");
        }
        return ExitCode.USAGE;
    }

    /** Whatever a command threw. */
    static int execution(Exception failure, CommandLine line, ParseResult parsed) {
        PrintWriter err = line.getErr();
        if (System.getenv("SONDE_DEBUG") != null) {
            failure.printStackTrace(err);
        }
        if (failure instanceof IOException && isBrokenPipe(failure)) {
            return ExitCode.DONE;
        }
        err.println("sonde: " + message(failure));
        return code(failure);
    }

    private static boolean isBrokenPipe(Exception failure) {
        return failure instanceof SyscallException call
                ? call.errno() == Errno.EPIPE
                : String.valueOf(failure.getMessage()).contains("Broken pipe");
    }

    private static String message(Exception failure) {
        return switch (failure) {
            case NoSuchFileException missing -> missing.getFile() + ": no such file";
            case AccessDeniedException denied ->
                    denied.getFile() + ": may not be read by this user";
            case IOException io when io.getMessage() != null -> String.valueOf(io.getMessage());
            case UnknownEventException unknown -> String.valueOf(unknown.getMessage());
            default ->
                    "internal fault: "
                            + failure
                            + "\n       SONDE_DEBUG=1 shows where; please report it";
        };
    }

    private static int code(Exception failure) {
        return switch (failure) {
            case MalformedInputException _ -> ExitCode.MALFORMED;
            case UnknownEventException _, NoSuchFileException _ -> ExitCode.USAGE;
            case IOException _ -> ExitCode.IMPOSSIBLE;
            default -> ExitCode.FAULT;
        };
    }
}
