package sonde.cli;

/**
 * What the JVM runs once to make the start-up cache: the commands' usual roads, so that their
 * classes lie in it already linked. Nothing here may need a capability or leave a file behind.
 */
final class Training {
    private Training() {}

    static int run() {
        Main.quietly("--version");
        Main.quietly("list");
        Main.quietly("list", "-v", "sched:sched_switch");
        Main.quietly("record", "--plan", "--", "true");
        Main.quietly("record", "--help");
        Main.quietly("report", "--help");
        return ExitCode.DONE;
    }
}
