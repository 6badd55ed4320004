package sonde.cli;

import java.io.OutputStream;
import java.util.Optional;
import sonde.cli.ResultPrinter.OutputForm;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Table;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.recording.syscall.CallTable;
import sonde.tools.record.RunningTarget;
import sonde.tools.syscalls.CallOutput;
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
        OutputForm form = call.json() ? OutputForm.JSON : OutputForm.TEXT;
        try (SyscallsRun run = new SyscallsRun(request);
                CallOutput out = SyscallsArguments.output(call.given(), request)) {
            SyscallsRequest.CountForm counts = request.counts();
            if (request.separate() != null || counts != null && !counts.linesToo()) {
                run.lines().rows().writeTo(OutputStream.nullOutputStream(), ListingForm.TEXT);
            } else {
                ResultPrinter.into(run.lines(), form, out == null ? null : out.stream());
            }
            Optional<Table> table = run.table();
            if (table.isPresent()) {
                ResultPrinter.into(table.get(), form, out == null ? null : out.stream());
            }
            call.say(run.notes());
            return run.status();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        }
    }
}
