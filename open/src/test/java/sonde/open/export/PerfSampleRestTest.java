package sonde.open.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.binary.Input;
import sonde.event.Recording;
import sonde.exchange.export.ChainNames;
import sonde.exchange.export.ExportLosses;
import sonde.exchange.export.ExportRows;
import sonde.exchange.export.FileFormat;
import sonde.open.format.RecordedRows;
import sonde.recording.perfdata.PerfDataReader;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.PerfDataExamples;

/** Every part of a sample is in the perf.data that is made of another one. */
class PerfSampleRestTest {
    @TempDir Path folder;

    static List<ByteOrder> orders() {
        return List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void everyPartIsWritten(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(9, 1, PerfDataExamples.whole(file, 12, 50));
        Path from = Files.write(folder.resolve("from"), file.file());
        Path to = folder.resolve("to");
        ExportLosses losses = new ExportLosses();
        try (Recording source = PerfDataReader.open(Input.open(from))) {
            List<Recording> all = List.of(source);
            try (ExportRows rows = ExportRows.of(all, ChainNames.own())) {
                FileFormat.PERFDATA.write(all, rows, to, losses);
            }
        }
        // The file made is of this machine's order, whatever the other one was.
        String before = row(example(ByteOrder.LITTLE_ENDIAN).file());
        String own = row(example(order).file());
        String after = row(Files.readAllBytes(to));
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
            // Copied memory stays as it was.
            String expected = field.equals("user_stack") ? own : before;
            assertThat(field(after, field)).as(field).isEqualTo(field(expected, field));
        }
        assertThat(field(after, "raw")).startsWith(field(own, "raw").replace("]", ""));
        assertThat(stack(after)).isEqualTo(stack(before));
        assertThat(losses.counts()).containsKey("AUX data of " + before.split(" ")[3]);
    }

    private static PerfDataBytes example(ByteOrder order) {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(9, 1, PerfDataExamples.whole(file, 12, 50));
        return file;
    }

    /** The first row, as a line. */
    private static String row(byte[] file) throws IOException {
        return RecordedRows.of(file, PerfDataReader::open).getFirst();
    }

    private static String field(String row, String name) {
        Matcher field = Pattern.compile(" " + name + "=(.*?)(?= [a-z_0-9]+=| < |$)").matcher(row);
        assertThat(field.find()).as(name + " in " + row).isTrue();
        return field.group(1);
    }

    private static String stack(String row) {
        return row.substring(row.indexOf(" < "));
    }
}
