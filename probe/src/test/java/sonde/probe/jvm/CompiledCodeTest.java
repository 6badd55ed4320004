package sonde.probe.jvm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.event.result.Frame;
import sonde.probe.jvm.JavaMethod.NumberCode;

/** What a process says of its compiled code, which may be anything. */
final class CompiledCodeTest {
    private static final NumberCode NUMBERS = new NumberCode(1);

    @Test
    void anInlinedCallAndItsCaller() {
        // Lines: bci 0 line 10, bci 5 line 12; numbers have 1 added, differences are 5 bits and 3.
        ByteBuffer lines = bytes(0xff, 1, 21, 5 << 3 | 2, 0);
        JavaMethod inner = JavaMethod.of("A.inner", "A.java", lines, NUMBERS);
        JavaMethod outer = JavaMethod.of("A.outer", "A.java", bytes(0), NUMBERS);
        // Scopes from 1 on: caller's offset, method, bci + 1; each with 1 added.
        ByteBuffer scopes = bytes(0, 1, 3, 4, 2, 5, 8);
        ByteBuffer places = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
        places.putInt(0, 8).putInt(4, 1).putInt(16, 20).putInt(20, 4);
        CompiledCode code =
                CompiledCode.of(
                        7,
                        outer,
                        100,
                        places,
                        scopes,
                        NUMBERS,
                        index -> index == 4 ? inner : outer);
        assertThat(code.frames(120)).extracting(Frame::name).containsExactly("A.inner", "A.outer");
        assertThat(code.frames(120).getFirst().line()).isEqualTo(12);
        assertThat(code.frames(120).getFirst().inlined()).isTrue();
        assertThat(code.frames(108)).extracting(Frame::name).containsExactly("A.outer");
    }

    @Test
    void aReturnToTheBeginningOfAStubMeansCallersInTheHeap() {
        // nop; call; ret; then the next stub: call by register; ret
        ByteBuffer stubs = bytes(0x90, 0xe8, 1, 2, 3, 4, 0xc3, 0x41, 0xff, 0xd2, 0xc3);
        CompiledCode code = CompiledCode.stub("StubRoutines (continuationstubs)", stubs);
        for (int offset = 0; offset < 20; offset++) {
            boolean isBeginning = offset == 7 || offset == 11;
            assertThat(code.frames(offset).getFirst().name())
                    .as("%d", offset)
                    .isEqualTo(
                            isBeginning
                                    ? CompiledCode.IN_HEAP
                                    : "StubRoutines (continuationstubs)");
        }
    }

    @Test
    void randomBytesAreBorne() {
        Random random = new Random(7);
        for (int run = 0; run < 2000; run++) {
            ByteBuffer table = random(random, 40);
            JavaMethod method = JavaMethod.of("A.a", "A.java", table, NUMBERS);
            CompiledCode code =
                    CompiledCode.of(
                            1,
                            method,
                            random.nextInt(),
                            random(random, 64),
                            random(random, 50),
                            NUMBERS,
                            index -> index % 3 == 0 ? null : method);
            List<Frame> frames = code.frames(random.nextInt());
            assertThat(frames).isNotEmpty().hasSizeLessThanOrEqualTo(64);
        }
    }

    private static ByteBuffer random(Random random, int most) {
        byte[] bytes = new byte[random.nextInt(most + 1)];
        random.nextBytes(bytes);
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }

    private static ByteBuffer bytes(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length).order(ByteOrder.nativeOrder());
        for (int value : values) {
            bytes.put((byte) value);
        }
        return bytes.flip();
    }
}
