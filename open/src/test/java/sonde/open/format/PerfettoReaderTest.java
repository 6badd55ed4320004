package sonde.open.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sonde.testkit.PerfettoBytes.message;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.Recording;
import sonde.exchange.perfetto.PerfettoReader;
import sonde.testkit.PerfettoBytes;
import sonde.testkit.ProtoBytes;

class PerfettoReaderTest {
    private static List<String> rows(byte[] file) throws IOException {
        return RecordedRows.of(file, PerfettoReader::open);
    }

    @Test
    void everyKindOfPacket() throws IOException {
        assertThat(rows(PerfettoBytes.example()))
                .containsExactly(
                        "1000100 -1 100/100 trace:process pid=100 ppid=1 name=/bin/app",
                        "1000100 -1 100/101 perf_record:comm pid=100 tid=101 comm=worker",
                        "1000100 -1 100/101 perf_record:comm pid=100 tid=101 comm=worker",
                        "1000100 -1 100/101 slice:track track=77 parent=0 name=worker",
                        "1000100 -1 -1/-1 slice:track track=78 parent=0 name=heap",
                        "1000200 2 -1/0 sched:sched_switch prev_comm=swapper/2 prev_pid=0"
                                + " prev_prio=120 prev_state=0 next_comm=worker next_pid=101"
                                + " next_prio=110",
                        "1000300 2 -1/101 my:event what=text much=-5",
                        "1000400 3 -1/-1 notice:lost *0",
                        "1000400 3 -1/-1 sched:sched_switch prev_comm= prev_pid=-1 prev_prio=0"
                                + " prev_state=1 next_comm=one next_pid=7 next_prio=120",
                        "1000500 3 -1/7 sched:sched_waking comm=two pid=8 prio=121 success=1"
                                + " target_cpu=3",
                        "1000600 3 -1/7 sched:sched_switch prev_comm=one prev_pid=7"
                                + " prev_prio=120 prev_state=256 next_comm=two next_pid=8"
                                + " next_prio=121",
                        "1000700 -1 100/101 slice:begin track=77 name=work category=cat id="
                                + " args={\"n\":-3,\"q\\\"\":[true]}",
                        "1000800 -1 100/101 slice:end track=77 name= category= id= args=",
                        "1000900 -1 -1/-1 counter:value track=78 value=3072.0 name=heap"
                                + " unit=bytes",
                        "1001000 1 100/101 perf:cpu-clock *10000000 < leaf < [/lib.so+0x20]");
    }

    @Test
    void whatIsNotKnownIsCounted() throws IOException {
        try (Recording recording =
                PerfettoReader.open(RecordedRows.input(PerfettoBytes.example()))) {
            assertThat(recording.notes())
                    .containsExactly("1 ftrace events of number 9999, which is not known here.");
            assertThat(recording.sources().getFirst().clock()).isEqualTo(Clock.BOOT);
        }
    }

    @Test
    void symbolsMayComeAtTheEnd() throws IOException {
        ProtoBytes address = message().number(1, 32).message(2, message().text(1, "root"));
        ProtoBytes module = message().text(1, "/lib.so").message(3, address);
        byte[] symbols = new PerfettoBytes().packet(message().message(61, module)).toBytes();
        byte[] whole = PerfettoBytes.example();
        byte[] both = Arrays.copyOf(whole, whole.length + symbols.length);
        System.arraycopy(symbols, 0, both, whole.length, symbols.length);
        assertThat(rows(both)).anyMatch(line -> line.endsWith("< leaf < root"));
    }

    @Test
    void aCutTraceKeepsWhatLiesBeforeTheCut() throws IOException {
        byte[] whole = PerfettoBytes.example();
        List<String> all = rows(whole);
        List<String> cut = rows(Arrays.copyOf(whole, whole.length - 20));
        assertThat(cut).contains(all.get(5), all.get(13)).doesNotContain(all.getLast());
        assertThat(cut).anyMatch(line -> line.contains("notice:corrupt"));
    }

    @Test
    void otherBytesAreRefused() {
        assertThatThrownBy(() -> rows(new byte[] {0x0a, 2, 8, 1}))
                .isInstanceOf(MalformedInputException.class);
    }
}
