package sonde.cli;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.cli.ResultPrinter.OutputForm;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.PrivateOutput;
import sonde.recording.syscall.CallTable;
import sonde.tools.record.RunningTarget;
import sonde.tools.syscalls.SyscallsArguments;
import sonde.tools.syscalls.SyscallsRequest;
import sonde.tools.syscalls.SyscallsRun;

/** {@code sonde syscalls}: strace's lines, without stopping the program. */
final class SyscallsCommand {
    static final String MODEL = SyscallsArguments.MODEL;

    private static final int BUFFER = 1 << 16;

    private SyscallsCommand() {}

    static int run(CommandCall call) throws Exception {
        // Read while the JVM links the way into the kernel; both take some 20 ms.
        Thread.ofPlatform().daemon().name("table").start(CallTable::read);
        InheritedState origin = InheritedState.capture();
        SyscallsRequest request = SyscallsArguments.request(call.given(), origin);
        for (int pid : request.pids()) {
            RunningTarget.check(pid);
        }
        String output = call.given().text("--output");
        OutputForm form = call.json() ? OutputForm.JSON : OutputForm.TEXT;
        try (SyscallsRun run = new SyscallsRun(request);
                CallOutput out =
                        output == null || request.separate() != null
                                ? null
                                : CallOutput.open(
                                        output, call.given().has("--output-append-mode"))) {
            SyscallsRequest.CountForm counts = request.counts();
            boolean countsOnly = counts != null && !counts.linesToo();
            if (countsOnly || request.separate() != null) {
                run.lines().rows().writeTo(OutputStream.nullOutputStream(), ListingForm.TEXT);
            } else {
                show(run.lines(), form, out);
            }
            Optional<Table> table = run.table();
            if (table.isPresent()) {
                show(table.get(), form, out);
            }
            call.say(run.notes());
            return run.status();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        }
    }

    private static void show(Result result, OutputForm form, @Nullable CallOutput out)
            throws IOException {
        if (out == null) {
            ResultPrinter.onErr(result, form);
        } else {
            ResultPrinter.into(result, form, out.stream());
        }
    }

    /** Where lines go: a file, or the input of a shell command ({@code |COMMAND}). */
    private record CallOutput(OutputStream stream, @Nullable Process command)
            implements AutoCloseable {
        static CallOutput open(String name, boolean append) throws IOException {
            if (name.startsWith("|") || name.startsWith("!")) {
                Process command =
                        new ProcessBuilder("/bin/sh", "-c", name.substring(1))
                                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                                .redirectError(ProcessBuilder.Redirect.INHERIT)
                                .start();
                return new CallOutput(new BufferedOutputStream(command.getOutputStream()), command);
            }
            Path file = Path.of(name);
            OutputStream out =
                    append
                            ? Files.newOutputStream(
                                    file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)
                            : PrivateOutput.open(file);
            return new CallOutput(new BufferedOutputStream(out, BUFFER), null);
        }

        @Override
        public void close() throws IOException, InterruptedException {
            stream.close();
            if (command != null) {
                command.waitFor();
            }
        }
    }
}
