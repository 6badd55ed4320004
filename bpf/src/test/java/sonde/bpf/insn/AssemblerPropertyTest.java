package sonde.bpf.insn;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.testkit.Property;

final class AssemblerPropertyTest {
    private static final List<ByteOrder> ORDERS =
            List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);

    @Test
    void whatIsPrintedIsReadBack() {
        Set<Class<?>> kinds = new HashSet<>();
        Property.forAll(
                20261121,
                30,
                random -> {
                    List<Instruction> program = RandomWords.instructions(random, 6_000);
                    program.forEach(i -> kinds.add(i.getClass()));
                    long[] words = InstructionEncoding.encode(program);
                    String listing = String.join("\n", Disassembler.lines(words));
                    assertThat(Assembler.assemble(listing).instructions()).isEqualTo(program);
                });
        // All but Unknown, and Flow stands for its own kinds.
        int all = Instruction.class.getPermittedSubclasses().length - 2;
        assertThat(kinds).hasSize(all + Instruction.Flow.class.getPermittedSubclasses().length);
    }

    @Test
    void bytesSurviveInBothOrders() {
        Property.forAll(
                7,
                3_000,
                random -> {
                    byte[] bytes = new byte[8 * random.nextInt(1, 9)];
                    random.nextBytes(bytes);
                    for (ByteOrder order : ORDERS) {
                        long[] words = InstructionEncoding.words(bytes, order);
                        long[] again =
                                InstructionEncoding.encode(InstructionEncoding.decode(words));
                        assertThat(InstructionEncoding.bytes(again, order)).isEqualTo(bytes);
                    }
                });
    }

    /** Decoded whole or refused with the slot: nothing else, whatever the words are. */
    @Test
    void everyWordIsAnInstructionOrSaysWhyNot() {
        Property.forAll(
                11,
                20_000,
                random -> {
                    long[] words = RandomWords.of(random, 4);
                    try {
                        assertThat(InstructionEncoding.decodeAll(words)).isNotEmpty();
                    } catch (InvalidInstructionException e) {
                        assertThat(e.slot()).isBetween(0, 3);
                        assertThat(e).hasMessageStartingWith("instruction " + e.slot() + " (byte");
                    }
                });
    }

    /** Broken listings give the typed error with a place, or a program. */
    @Test
    void brokenTextIsRefusedWithAPlace() {
        Property.forAll(
                99,
                5_000,
                random -> {
                    List<Instruction> program = RandomWords.instructions(random, 6);
                    StringBuilder text = new StringBuilder();
                    program.forEach(i -> text.append(Disassembler.text(i)).append('\n'));
                    for (int i = 0; i < 3 && !text.isEmpty(); i++) {
                        int at = random.nextInt(text.length());
                        switch (random.nextInt(3)) {
                            case 0 -> text.deleteCharAt(at);
                            case 1 -> text.insert(at, (char) random.nextInt(32, 128));
                            default -> text.setLength(at);
                        }
                    }
                    try {
                        Assembler.assemble(text.toString());
                    } catch (AssemblyException e) {
                        assertThat(e.line()).isBetween(1, 8);
                        assertThat(e.column()).isPositive();
                    }
                });
    }
}
