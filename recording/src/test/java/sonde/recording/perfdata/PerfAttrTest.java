package sonde.recording.perfdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIf;

class PerfAttrTest {
    private static final PerfAttr FULL =
            PerfAttr.of(4, 0x1122334455667788L)
                    .frequency(4000)
                    .sampleType(PerfAbi.PERF_SAMPLE_IP | PerfAbi.PERF_SAMPLE_IDENTIFIER)
                    .readFormat(PerfAbi.PERF_FORMAT_ID | PerfAbi.PERF_FORMAT_LOST)
                    .flags(PerfAbi.FLAG_DISABLED | PerfAbi.FLAG_SAMPLE_ID_ALL)
                    .watermark(65536)
                    .config1(1)
                    .config2(2)
                    .config3(3)
                    .branchSampleType(PerfAbi.PERF_SAMPLE_BRANCH_ANY)
                    .userStack(0xff, 8192)
                    .clockid(1)
                    .sampleRegsIntr(0xf0)
                    .auxWatermark(4)
                    .sampleMaxStack(127)
                    .auxSampleSize(5)
                    .sigData(6)
                    .build();

    static boolean isBigEndian() {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
    }

    @Test
    void decodesWhatItEncodes() {
        ByteBuffer bytes = ByteBuffer.wrap(FULL.encode()).order(ByteOrder.nativeOrder());
        assertThat(PerfAttr.decode(bytes)).isEqualTo(FULL);
        assertThat(FULL.toBuilder().build()).isEqualTo(FULL);
    }

    @Test
    @DisabledIf("isBigEndian")
    void fieldsLieWhereTheKernelLooksForThem() {
        ByteBuffer bytes = ByteBuffer.wrap(FULL.encode()).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(bytes.capacity()).isEqualTo(136);
        assertThat(bytes.getInt(0)).isEqualTo(4); // type
        assertThat(bytes.getInt(4)).isEqualTo(136); // size
        assertThat(bytes.getLong(8)).isEqualTo(0x1122334455667788L); // config
        assertThat(bytes.getLong(16)).isEqualTo(4000); // sample_freq
        // disabled 0, freq 10, watermark 14, sample_id_all 18, use_clockid 25
        long flags = 1 | 1 << 10 | 1 << 14 | 1 << 18 | 1 << 25;
        assertThat(bytes.getLong(40)).isEqualTo(flags);
        assertThat(bytes.getInt(48)).isEqualTo(65536); // wakeup_watermark
        assertThat(bytes.getInt(88)).isEqualTo(8192); // sample_stack_user
        assertThat(bytes.getInt(92)).isEqualTo(1); // clockid
        assertThat(bytes.getShort(108)).isEqualTo((short) 127); // sample_max_stack
        assertThat(bytes.getLong(128)).isEqualTo(3); // config3
    }

    @Test
    void shorterVersionsLackTheLaterFields() {
        byte[] first = FULL.encode(PerfAbi.PERF_ATTR_SIZE_VER0);
        ByteBuffer bytes = ByteBuffer.wrap(first).order(ByteOrder.nativeOrder());
        PerfAttr attr = PerfAttr.decode(bytes);
        assertThat(bytes.getInt(4)).isEqualTo(64);
        assertThat(attr.config1()).isEqualTo(1);
        assertThat(attr.config2()).isZero();
        assertThat(attr.clockid()).isZero();
        assertThatThrownBy(() -> FULL.encode(60)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void bitFieldsOfBigEndianMachinesStartAtTheOtherEnd() {
        byte[] bytes = new byte[64];
        bytes[40] = (byte) 0b1000_0000; // disabled
        bytes[42] = 0b0010_0000; // sample_id_all, bit 18
        PerfAttr attr = PerfAttr.decode(ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN));
        assertThat(attr.flags()).isEqualTo(PerfAbi.FLAG_DISABLED | PerfAbi.FLAG_SAMPLE_ID_ALL);
    }

    @Test
    void trailerHasAWordForEachPart() {
        assertThat(FULL.sampleIdBytes()).isEqualTo(8);
        PerfAttr without = FULL.toBuilder().without(PerfAbi.FLAG_SAMPLE_ID_ALL).build();
        assertThat(without.sampleIdBytes()).isZero();
    }
}
