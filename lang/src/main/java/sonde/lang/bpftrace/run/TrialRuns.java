package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sonde.bpf.Program;
import sonde.bpf.TestRun.TestOutcome;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.TracerProbe;
import sonde.lang.probes.ProbeAttacher;

/** Runs tests and benches of a script. */
public final class TrialRuns {
    private static final int REPEAT = 10_000;

    private TrialRuns() {}

    private record TrialProgram(String name, Program program) {}

    private static List<TrialProgram> trials(TraceSession session, Kind kind) {
        List<TrialProgram> trials = new ArrayList<>();
        for (Map.Entry<PreparedProgram, Program> entry : session.programs().entrySet()) {
            for (Probe probe : entry.getKey().group().probes()) {
                if (probe.kind() == kind && probe instanceof TracerProbe special) {
                    trials.add(new TrialProgram(special.word(), entry.getValue()));
                }
            }
        }
        return trials;
    }

    /** Runs the tests one after the other; true when all passed. */
    public static boolean test(TraceSession session) throws IOException {
        List<TrialProgram> trials = trials(session, Kind.TEST);
        List<String> names = trials.stream().map(TrialProgram::name).toList();
        List<Boolean> passed = new ArrayList<>();
        session.begin("sonde");
        for (int i = 0; i < trials.size(); i++) {
            int errors = session.actions().errors();
            TestOutcome outcome = ProbeAttacher.runOnce(trials.get(i).program());
            session.drain();
            passed.add(outcome.value() == 0 && session.actions().errors() == errors);
            session.output().testResult(names, i, outcome.nanos(), List.copyOf(passed), "");
        }
        session.output().flush();
        return passed.stream().allMatch(ok -> ok);
    }

    /** Runs the benches one after the other. */
    public static int bench(TraceSession session) throws IOException {
        List<TrialProgram> trials = trials(session, Kind.BENCH);
        List<String> names = trials.stream().map(TrialProgram::name).toList();
        session.begin("sonde");
        session.output().attachedProbes(trials.size());
        List<Integer> nanos = new ArrayList<>();
        for (TrialProgram trial : trials) {
            nanos.add(ProbeAttacher.runOften(trial.program(), REPEAT).nanos());
            session.drain();
        }
        for (int i = 0; i < trials.size(); i++) {
            session.output().benchmarkResult(names, i, nanos.get(i), REPEAT);
        }
        session.end();
        session.output().flush();
        return 0;
    }
}
