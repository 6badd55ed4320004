package sonde.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.cli.ResultPrinter.OutputForm;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.recording.syscall.CallTable;
import sonde.tools.record.RunningTarget;
import sonde.tools.syscalls.SyscallsArguments;
import sonde.tools.syscalls.SyscallsRequest;
import sonde.tools.syscalls.SyscallsRun;

/** {@code sonde syscalls}: strace's lines, without stopping the program. */
final class SyscallsCommand {
    static final String MODEL = SyscallsArguments.MODEL;

    private SyscallsCommand() {}

    static int run(CommandCall call) throws Exception {
        // Read while the JVM links the way into the kernel; both take some 20 ms.
        Thread.ofPlatform().daemon().name("table").start(CallTable::read);
        InheritedState origin = InheritedState.capture();
        SyscallsRequest request = SyscallsArguments.request(call.given(), origin);
        for (int pid : request.pids()) {
            RunningTarget.check(pid);
        }
        Path file = call.given().path("--output");
        OutputForm form = call.json() ? OutputForm.JSON : OutputForm.TEXT;
        try (SyscallsRun run = new SyscallsRun(request)) {
            SyscallsRequest.CountForm counts = request.counts();
            boolean countsOnly = counts != null && !counts.linesToo();
            if (countsOnly || request.separate() != null) {
                run.lines().rows().writeTo(OutputStream.nullOutputStream(), ListingForm.TEXT);
            } else {
                show(run.lines(), form, file);
            }
            Optional<Table> table = run.table();
            if (table.isPresent()) {
                show(table.get(), form, countsOnly ? file : null);
            }
            call.say(run.notes());
            return run.status();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        }
    }

    private static void show(Result result, OutputForm form, @Nullable Path file)
            throws IOException {
        if (file == null) {
            ResultPrinter.onErr(result, form);
        } else {
            ResultPrinter.whileWritten(result, form, file);
        }
    }
}
