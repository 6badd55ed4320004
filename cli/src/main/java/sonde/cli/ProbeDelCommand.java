package sonde.cli;

import java.io.PrintWriter;
import java.util.Map;
import sonde.probe.dynamic.NamedProbes;

/** {@code sonde probe del}. */
final class ProbeDelCommand {
    static final String MODEL =
            """
            sonde probe del [OPTIONS] PATTERN...

            Remove named probes that 'sonde probe add' set.

            Arguments:
              PATTERN...      [GROUP:]NAME, or a glob

            Options:
              --any           also remove probes that other tools set

            Examples:
              sonde probe del start_dl_timer_L16
              sonde probe del 'probe_server:*'
              sonde probe del '*'

            Exit status:
              0 removed, 1 nothing matches
            """;

    private final CommandCall call;

    private ProbeDelCommand(CommandCall call) {
        this.call = call;
    }

    static int run(CommandCall call) throws Exception {
        return new ProbeDelCommand(call).run();
    }

    private int run() throws Exception {
        NamedProbes probes = NamedProbes.open();
        PrintWriter out = call.out();
        boolean removed = false;
        for (String pattern : call.given().words()) {
            Map<String, Boolean> done = probes.delete(pattern, call.has("--any"));
            for (Map.Entry<String, Boolean> one : done.entrySet()) {
                removed |= one.getValue();
                out.println(
                        one.getKey()
                                + (one.getValue()
                                        ? " removed"
                                        : " left: not made by sonde probe; --any removes it too"));
            }
            if (done.isEmpty()) {
                call.say("no probe is called " + pattern);
            }
        }
        return removed ? ExitCode.DONE : ExitCode.NEGATIVE;
    }
}
