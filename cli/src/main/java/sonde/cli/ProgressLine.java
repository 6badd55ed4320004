package sonde.cli;

import java.util.function.Consumer;
import sonde.probe.record.RecordProgress;

/**
 * One line on standard error that says how the recording goes; only where standard error is a
 * terminal that nobody else writes to, so never while a command of ours has the terminal.
 */
final class ProgressLine implements Consumer<RecordProgress> {
    private static final String ERASE = "\r\033[K";

    private final boolean visible;
    private boolean drawn;

    ProgressLine(boolean besideCommand) {
        boolean shared = besideCommand && TerminalKind.width(TerminalKind.STDOUT) > 0;
        visible =
                !shared
                        && TerminalKind.obeys(System.getenv())
                        && TerminalKind.width(TerminalKind.STDERR) > 0;
    }

    boolean isVisible() {
        return visible;
    }

    @Override
    public void accept(RecordProgress progress) {
        drawn = true;
        System.err.printf(
                "%s%.1f s  %,d events  %.1f MiB  %s",
                ERASE,
                progress.nanos() / 1e9,
                progress.events(),
                progress.bytes() / 1048576.0,
                progress.lost() == 0 ? "nothing lost" : "lost " + progress.lost());
        System.err.flush();
    }

    /** Takes the line away. */
    void clear() {
        if (drawn) {
            System.err.print(ERASE);
            System.err.flush();
        }
    }
}
