package sonde.tools.report.section;

import java.util.List;
import sonde.analysis.LogLinear;
import sonde.analysis.SignalDeliveries;
import sonde.analysis.sched.WakeUps;
import sonde.analysis.stack.SignalDeaths;
import sonde.event.result.Result;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.sys.SignalNames;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** Who woke whom, and who sent signals to whom. */
final class WakeUpsSection implements ReportSection {
    /** From wake-up to running. */
    static final AnalysisKey<WakeUps> WAKE_UPS =
            new AnalysisKey<>(found -> found.addStates(new WakeUps()));

    /** Who sent signals to whom. */
    static final AnalysisKey<SignalDeliveries> SIGNALS =
            new AnalysisKey<>(
                    found -> found.add(new SignalDeliveries(found.threads(), found.window())));

    /** Which processes a signal ended. */
    static final AnalysisKey<SignalDeaths> DEATHS =
            new AnalysisKey<>(found ->
                    found.add(new SignalDeaths(found.threads(), found.stacks(), found.window())));

    @Override
    public List<String> options() {
        return List.of("--wakeups");
    }

    @Override
    public String help() {
        return "show wakers and woken threads, run-queue latency, signals";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(WAKE_UPS, SIGNALS);
    }

    @Override
    public List<Result> results(ReportOperators found) {
        int limit = found.options().rows();
        List<WakeUps.Edge> edges =
                found.of(WAKE_UPS).edges().stream()
                        .filter(edge -> found.shown(edge.woken()))
                        .toList();
        LogLinear all = new LogLinear();
        edges.forEach(edge -> all.add(edge.latency()));
        return List.of(
                new TableBuilder<WakeUps.Edge>("who woke whom")
                        .text("waker", edge -> found.threadName(edge.waker()))
                        .text("woken", edge -> found.threadName(edge.woken()))
                        .count("count", edge -> edge.latency().count())
                        .nanos("wait mean", edge -> edge.latency().mean())
                        .nanos("wait p99", edge -> edge.latency().quantile(0.99))
                        .nanos("wait max", edge -> edge.latency().max())
                        .table(edges, limit),
                all.histogram("from wake-up to running", Unit.NANOS),
                new TableBuilder<SignalDeliveries.Entry>("signals")
                        .text(
                                "sender",
                                one -> one.generated() > 0 ? found.threadName(one.sender()) : null)
                        .text("receiver", one -> found.threadName(one.receiver()))
                        .text("signal", one -> SignalNames.of(one.number()))
                        .count("sent", SignalDeliveries.Entry::generated)
                        .count("delivered", SignalDeliveries.Entry::delivered)
                        .table(
                                found.of(SIGNALS).entries().stream()
                                        .filter(one -> found.shown(one.receiver())),
                                limit));
    }
}
