package sonde.format.perfdata;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.event.Recording;
import sonde.format.Input;
import sonde.format.export.ChainNames;
import sonde.format.export.ExportRows;
import sonde.format.export.FileFormat;
import sonde.format.export.Losses;
import sonde.format.perfdata.Rows.Row;
import sonde.testkit.PerfDataBytes;

/** Every part of a sample is in the perf.data that is made of another one. */
class PerfSampleRestTest {
    @TempDir Path folder;

    static List<ByteOrder> orders() {
        return List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void everyPartIsWritten(ByteOrder order) throws IOException {
        PerfDataBytes file = Examples.file(order);
        file.record(9, 1, Examples.whole(file, 12, 50));
        Path from = Files.write(folder.resolve("from"), file.file());
        Path to = folder.resolve("to");
        Losses losses = new Losses();
        try (Recording source = PerfDataRecording.open(Input.open(from), List.of())) {
            List<Recording> all = List.of(source);
            try (ExportRows rows = ExportRows.of(all, ChainNames.own())) {
                FileFormat.PERFDATA.write(all, rows, to, losses);
            }
        }
        Row before = Rows.of(file.file()).getFirst();
        Row after = Rows.of(Files.readAllBytes(to)).getFirst();
        for (String field :
                List.of(
                        "addr",
                        "time_enabled",
                        "time_running",
                        "read_values",
                        "read_ids",
                        "read_lost",
                        "branch_hw_idx",
                        "branch_from",
                        "branch_to",
                        "branch_flags",
                        "user_regs_abi",
                        "user_regs",
                        "user_stack",
                        "weight",
                        "ins_lat",
                        "data_src",
                        "transaction",
                        "intr_regs_abi",
                        "intr_regs",
                        "phys_addr",
                        "cgroup",
                        "data_page_size",
                        "code_page_size")) {
            assertThat(after.field(field)).as(field).isEqualTo(before.field(field));
        }
        assertThat(after.field("raw")).startsWith(before.field("raw").replace("]", ""));
        assertThat(after.stack()).isEqualTo(before.stack());
        assertThat(losses.counts()).containsKey("AUX data of " + before.type());
    }
}
