package sonde.binary;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sonde.testkit.Property;

class AddressOrderTest {
    /** Few and many, near each other and far, with equal ones among them. */
    @Test
    void isAscendingAndStable() {
        Property.forAll(
                11,
                300,
                random -> {
                    int count = random.nextInt(random.nextBoolean() ? 200 : 5);
                    long[] addresses = new long[count + random.nextInt(3)];
                    int bits = 1 + random.nextInt(64);
                    Arrays.setAll(addresses, i -> random.nextLong() >>> 64 - bits);
                    Comparator<Integer> order =
                            (a, b) -> Long.compareUnsigned(addresses[a], addresses[b]);
                    int[] expected =
                            IntStream.range(0, count)
                                    .boxed()
                                    .sorted(order)
                                    .mapToInt(i -> i)
                                    .toArray();
                    assertThat(AddressOrder.of(addresses, count)).isEqualTo(expected);
                });
    }

    @Test
    void theFloorIsTheLastThatIsNotAbove() {
        long[] addresses = {1, 5, 5, 0xffff_ffff_8000_0000L};
        assertThat(AddressOrder.floor(addresses, 4, 0)).isEqualTo(-1);
        assertThat(AddressOrder.floor(addresses, 4, 5)).isEqualTo(2);
        assertThat(AddressOrder.floor(addresses, 4, Long.MAX_VALUE)).isEqualTo(2);
        assertThat(AddressOrder.floor(addresses, 4, -1)).isEqualTo(3);
        assertThat(AddressOrder.floor(addresses, 0, 5)).isEqualTo(-1);
    }
}
