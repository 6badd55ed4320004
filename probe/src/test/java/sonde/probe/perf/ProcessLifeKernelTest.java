package sonde.probe.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.sys.Clocks;

/** What listeners of this kernel are told beside each other. */
@Tag("kernel")
final class ProcessLifeKernelTest {
    private static List<LifeRecord> drained(ProcessLife life) {
        List<LifeRecord> records = new ArrayList<>();
        life.drain(records::add);
        return records.stream().filter(LifeRecord.KernelSymbol.class::isInstance).toList();
    }

    /** The record of a program grows with each listener, but the end of it is not written. */
    @Test
    void eachListenerHasTheTimeOfAProgram() throws Exception {
        try (ProcessLife first = ProcessLife.open();
                ProcessLife second = ProcessLife.open();
                ProcessLife third = ProcessLife.open()) {
            long begun = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            OwnSampleFilter.load().close();
            long ended = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            for (ProcessLife life : List.of(first, second, third)) {
                assertThat(drained(life))
                        .isNotEmpty()
                        .anyMatch(one -> one.timeNanos() >= begun && one.timeNanos() <= ended)
                        .allMatch(one -> one.timeNanos() >= begun - 1_000_000_000L);
            }
        }
    }
}
