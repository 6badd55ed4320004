package sonde.tools.report.section;

import java.util.List;
import sonde.analysis.block.BlockIo;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** Requests to block devices. */
final class BlockIoSection implements ReportSection {
    /** The requests. */
    static final AnalysisKey<BlockIo> REQUESTS =
            new AnalysisKey<>(found -> found.add(new BlockIo(found.threads(), found.window())));

    @Override
    public List<String> options() {
        return List.of("--io");
    }

    @Override
    public String help() {
        return "show block I/O by device: latency and size";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(REQUESTS);
    }

    @Override
    public List<Result> results(ReportOperators found) {
        return List.of(table(found, found.options().rows()));
    }

    private static Table table(ReportOperators found, int limit) {
        return top(found, limit, 0);
    }

    /** Requests that took this long together. */
    static Table top(ReportOperators found, int limit, long nanos) {
        return new TableBuilder<BlockIo.Entry>("block I/O")
                .text("device", entry -> entry.group().deviceName())
                .text("kind", entry -> entry.group().kind().label())
                .text("thread", entry -> found.threadName(entry.group().thread()))
                .count("requests", entry -> entry.service().count())
                .bytes("bytes", entry -> entry.sizes().sum())
                .bytes("mean size", entry -> entry.sizes().mean())
                .nanos("total", entry -> entry.service().sum())
                .nanos("p50", entry -> entry.service().quantile(0.5))
                .nanos("p99", entry -> entry.service().quantile(0.99))
                .nanos("max", entry -> entry.service().max())
                .nanos(
                        "queued p50",
                        entry -> entry.queue().count() == 0 ? null : entry.queue().quantile(0.5))
                .table(
                        found.of(REQUESTS).entries().stream()
                                .filter(entry -> found.shown(entry.group().thread()))
                                .filter(entry -> entry.service().sum() >= nanos),
                        limit);
    }
}
