package sonde.bpf.classic;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteOrder;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.interpreter.BpfMachine;
import sonde.bpf.interpreter.MachineEnvironment;
import sonde.bpf.interpreter.ProgramContext;
import sonde.bpf.interpreter.VirtualProgram;
import sonde.testkit.Property;

final class ClassicTranslationPropertyTest {
    static final int PROTOCOL = 0x0800;
    static final PacketFacts FACTS = what -> what == Ancillary.PROTOCOL ? PROTOCOL : 0;

    @Test
    void bothKindsDecideAlike() {
        Property.forAll(
                42,
                10_000,
                random -> {
                    ClassicProgram filter = RandomFilter.of(random);
                    ProgramCode code = ClassicTranslation.of(filter);
                    VirtualProgram extended = new BpfMachine(MachineEnvironment.FIXED).load(code);
                    for (int i = 0; i < 5; i++) {
                        byte[] packet = packet(random, random.nextInt(60));
                        long result = extended.run(ProgramContext.socketBuffer(packet, PROTOCOL));
                        assertThat((int) result)
                                .as("%s%n%s", filter, code)
                                .isEqualTo(filter.run(packet, FACTS));
                    }
                });
    }

    static byte[] packet(RandomGenerator random, int size) {
        byte[] packet = new byte[size];
        random.nextBytes(packet);
        return packet;
    }

    @Test
    void programsSurviveTheirBytes() {
        Property.forAll(
                43,
                3_000,
                random -> {
                    ClassicProgram filter = RandomFilter.of(random);
                    for (ByteOrder order :
                            new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
                        byte[] bytes = filter.encode(order);
                        assertThat(ClassicProgram.decode(bytes, order).instructions())
                                .isEqualTo(filter.instructions());
                    }
                });
    }

    /** Bytes of any kind are a filter that runs to its end, or the typed error. */
    @Test
    void brokenFiltersAreRefused() {
        Property.forAll(
                44,
                20_000,
                random -> {
                    byte[] bytes = RandomFilter.of(random).encode(ByteOrder.LITTLE_ENDIAN);
                    for (int i = 0; i < 3; i++) {
                        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                    }
                    try {
                        ClassicProgram filter =
                                ClassicProgram.decode(bytes, ByteOrder.LITTLE_ENDIAN);
                        filter.run(packet(random, 40), FACTS);
                        assertThat(ClassicTranslation.of(filter).words()).isNotEmpty();
                        assertThat(filter.toString()).startsWith("(000) ");
                    } catch (ClassicFilterException e) {
                        assertThat(e.index()).isLessThan(bytes.length / 8);
                    }
                });
    }
}
