package sonde.tools.report.answer;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import sonde.analysis.SignalDeliveries;
import sonde.analysis.stack.SignalDeaths;
import sonde.analysis.stack.SignalDeaths.SignalDeath;
import sonde.event.result.Frame;
import sonde.sys.SignalNames;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.answer.Evidence.DeathSum;
import sonde.tools.report.answer.Evidence.SignalSum;
import sonde.tools.report.answer.Evidence.ThreadGroup;
import sonde.tools.report.answer.EvidenceMaker.CallKey;

/** Signals, and whom they ended. */
final class SignalEvidence {
    private static final Set<String> KILLS = Set.of("kill", "tkill", "tgkill", "rt_sigqueueinfo");

    private static final Map<Pattern, String> ABORTS =
            Map.of(
                    Pattern.compile("(__GI_)?__assert(_perror)?_fail.*"),
                    "an assertion failed",
                    Pattern.compile("malloc_printerr.*"),
                    "the C library found its heap damaged",
                    Pattern.compile("(__GI_)?__(stack_chk|fortify|chk)_fail.*"),
                    "it wrote beyond the end of a buffer",
                    Pattern.compile("std::terminate.*|__cxxabiv1::__terminate.*"),
                    "nobody caught an exception (std::terminate)",
                    Pattern.compile("(std|core)::panicking::.*"),
                    "it panicked",
                    Pattern.compile("(node|v8)::.*OutOfMemory.*|node::OOMErrorHandler.*"),
                    "the heap of JavaScript was full");

    private final ReportOperators found;
    private final SignalDeliveries signals;
    private final SignalDeaths deaths;
    private final ProgramFrames frames;
    private final KernelReasons reasons;
    private final CpuEvidence cpu;
    private final Map<Integer, ThreadGroup> groups;

    SignalEvidence(
            ReportOperators found,
            SignalDeliveries signals,
            SignalDeaths deaths,
            ProgramFrames frames,
            KernelReasons reasons,
            CpuEvidence cpu,
            Map<Integer, ThreadGroup> groups) {
        this.found = found;
        this.signals = signals;
        this.deaths = deaths;
        this.frames = frames;
        this.reasons = reasons;
        this.cpu = cpu;
        this.groups = groups;
    }

    List<SignalSum> signals() {
        Map<List<String>, Long> sums = new HashMap<>();
        for (SignalDeliveries.Entry entry : signals.entries()) {
            ThreadGroup group = groups.get(entry.receiver());
            long count =
                    entry.sender() == entry.receiver()
                            ? Math.max(entry.delivered() - others(entry), entry.generated())
                            : entry.generated();
            if (group != null && count > 0) {
                String sender =
                        entry.sender() < 0 || entry.sender() == entry.receiver()
                                ? "timers or itself"
                                : found.threadName(entry.sender());
                sums.merge(
                        List.of(group.shown(), sender, SignalNames.of(entry.number())),
                        count,
                        Long::sum);
            }
        }
        return sums.entrySet().stream()
                .map(sum ->
                        new SignalSum(
                                sum.getKey().get(0),
                                sum.getKey().get(1),
                                sum.getKey().get(2),
                                sum.getValue()))
                .sorted(Comparator.comparingLong((SignalSum one) -> -one.count()))
                .toList();
    }

    List<DeathSum> deaths(Function<CallKey, String> object) {
        Map<DeathSum, Long> sums = new LinkedHashMap<>();
        Map<DeathSum, String> names = new HashMap<>();
        for (SignalDeath death : deaths.deaths()) {
            ThreadGroup group = groups.get(death.process());
            boolean recorder = found.threads().isRecorder(death.sender());
            if (group == null || recorder || isEndOfPipeline(death)) {
                continue;
            }
            boolean itself =
                    death.sender() >= 0
                            && found.threads().pid(death.sender())
                                    == found.threads().pid(death.process());
            String call = itself && death.stack() >= 0 ? cpu.call(death.stack()) : "";
            String reason =
                    KILLS.contains(call) ? itself(death.stack()) : reasons.killer(death.stack());
            DeathSum one =
                    new DeathSum(
                            found.threads().name(death.process()),
                            SignalNames.of(death.number()),
                            itself || death.sender() < 0 || !reason.isEmpty()
                                    ? ""
                                    : found.threadName(death.sender()),
                            itself ? frames.of(death.stack()) : ProgramPlace.UNKNOWN,
                            call.isEmpty() || KILLS.contains(call)
                                    ? ""
                                    : object.apply(new CallKey(group, call)),
                            reason,
                            1);
            sums.merge(one, 1L, Long::sum);
            names.put(one, one.process() + " " + found.threads().pid(death.process()));
        }
        return sums.entrySet().stream()
                .map(sum -> {
                    DeathSum one = sum.getKey();
                    String single = names.getOrDefault(one, one.process());
                    return one.times(sum.getValue(), single);
                })
                .toList();
    }

    /** {@code yes | head}: a shell's writers end so when their reader has enough. */
    private boolean isEndOfPipeline(SignalDeath death) {
        int parent = found.threads().parent(death.process());
        return SignalNames.of(death.number()).equals("SIGPIPE")
                && parent >= 0
                && found.threads().name(parent).matches("(ba|da|z|k|mk|fi|a)?sh|busybox");
    }

    /** glibc, libstdc++, Rust: why a process ends itself, by who called abort. */
    private String itself(int node) {
        List<String> chain = found.trees().chain(node).stream().map(Frame::name).toList();
        return ABORTS.entrySet().stream()
                .filter(one -> chain.stream().anyMatch(one.getKey().asMatchPredicate()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("it sent the signal itself");
    }

    /** What others sent of the signals that a thread got. */
    private long others(SignalDeliveries.Entry own) {
        return signals.entries().stream()
                .filter(one -> one.receiver() == own.receiver() && one.number() == own.number())
                .filter(one -> one.sender() != own.sender())
                .mapToLong(SignalDeliveries.Entry::generated)
                .sum();
    }
}
