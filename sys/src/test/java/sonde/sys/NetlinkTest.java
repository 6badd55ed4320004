package sonde.sys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Questions that every user may ask. */
@Execution(ExecutionMode.SAME_THREAD)
final class NetlinkTest {
    private static final int GET_LINK = 18;
    private static final int NAME = 3;

    @Test
    void theLoopbackDeviceIsThere() throws Exception {
        List<byte[]> devices = Netlink.dump(GET_LINK, new byte[16]);
        assertThat(devices)
                .extracting(one -> Netlink.attributes(one, 16).get(NAME))
                .extracting(name -> new String(name, StandardCharsets.UTF_8))
                .contains("lo\0");
    }

    @Test
    void whatTheKernelRefuses() {
        assertThatThrownBy(() -> Netlink.dump(0xfff0, new byte[16]))
                .isInstanceOf(SyscallException.class);
    }

    @Test
    void attributesEndWhereTheyAreCut() {
        byte[] two = {5, 0, 1, 0, 9, 0, 0, 0, 4, 0, 2, (byte) 0x80};
        Map<Integer, byte[]> both = Netlink.attributes(two, 0);
        assertThat(both).containsOnlyKeys(1, 2);
        assertThat(both.get(1)).containsExactly(9);
        assertThat(Netlink.attributes(new byte[] {9, 0, 1, 0, 1}, 0)).isEmpty();
        assertThat(Netlink.attributes(new byte[] {0, 0, 0, 0, 0, 0, 0, 0}, 0)).isEmpty();
        assertThat(Netlink.attributes(two, 99)).isEmpty();
    }
}
