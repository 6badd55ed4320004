package sonde.bpf.interpreter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.interpreter.ProgramFaultException.Kind;

final class InterpreterTest {
    private final BpfMachine machine = new BpfMachine(MachineEnvironment.FIXED);

    private long run(String text) throws Exception {
        return machine.load(Assembler.assemble(text)).run(ProgramContext.none());
    }

    @Test
    void subprogramsKeepTheCallersRegistersAndStack() throws Exception {
        long result =
                run(
                        """
                        r6 = 5
                        *(u64 *)(r10 -8) = 30
                        r1 = r10
                        r1 += -8
                        call twice
                        r1 = *(u64 *)(r10 -8)
                        r0 += r1
                        r0 += r6
                        exit
                        twice:
                        r6 = *(u64 *)(r1 +0)
                        *(u64 *)(r10 -8) = 1000
                        r0 = r6
                        r0 <<= 1
                        exit
                        """);
        assertThat(result).isEqualTo(60 + 30 + 5);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
                    r1 = *(u64 *)(r10 +0)           | MEMORY | R10 | 8 bytes at 512 of the stack
                    r1 = *(u64 *)(r10 -513)         | MEMORY | R10 | 8 bytes at
                    r2 = 64                         | FLOW   |     | ends before it
                    goto pc+7                       | FLOW   |     | ends before it
                    r3 = 0xffff888000000000         | FLOW   |     | ends before it
                    *(u8 *)(r1 +0) = 1              | MEMORY | R1  | of the context, which has 0
                    call bpf_redirect#23            | FUNCTION |   | no such function
                    call kfunc#12                   | FUNCTION |   | no such function
                    r1 = map[fd:99]                 | INSTRUCTION | | does not run here
                    .word 0x8d                      | INSTRUCTION | | does not run here
                    goto pc-1                       | BUDGET |     | too many instructions
                    call pc-1                       | DEPTH  |     | more than 8 deep
                    call bpf_map_lookup_elem#1      | FUNCTION |   | r1 is not a map
                    r10 += 8                        | INSTRUCTION | | does not run here
                    """)
    void faultsNameInstructionAndRegister(String text, Kind kind, String register, String reason) {
        ProgramFaultException e =
                catchThrowableOfType(ProgramFaultException.class, () -> run(text));
        assertThat(e.kind()).isEqualTo(kind);
        assertThat(e).hasMessageStartingWith("instruction ").hasMessageContaining(reason);
        assertThat(e.register()).isEqualTo(register == null ? null : BpfRegister.valueOf(register));
    }

    @Test
    void helpersComplainAboutTheirPointers() {
        machine.map(3, VirtualHash.of("h", 8, 8, 1));
        ProgramFaultException e =
                catchThrowableOfType(
                        ProgramFaultException.class,
                        () -> run("r1 = map[fd:3]\nr2 = r10\nr2 += -4\ncall bpf_map_lookup_elem"));
        assertThat(e)
                .hasMessage(
                        "instruction 4: call bpf_map_lookup_elem#1: r2 leads to"
                                + " 8 bytes at 508 of the stack, which has 512");
    }

    @Test
    void ringKeepsTheOrderOfReservation() throws Exception {
        VirtualRing ring = new VirtualRing("events", 4096);
        machine.map(3, ring);
        run(
                """
                r1 = map[fd:3]
                r2 = 8
                r3 = 0
                call bpf_ringbuf_reserve
                if r0 == 0x0 goto out
                r6 = r0
                *(u64 *)(r6 +0) = 7
                *(u32 *)(r10 -4) = 9
                r1 = map[fd:3]
                r2 = r10
                r2 += -4
                r3 = 4
                r4 = 0
                call bpf_ringbuf_output
                r1 = map[fd:3]
                r2 = 16
                r3 = 0
                call bpf_ringbuf_reserve
                r1 = r0
                r2 = 0
                call bpf_ringbuf_discard
                r1 = r6
                r2 = 0
                call bpf_ringbuf_submit
                out: r0 = 0
                exit
                """);
        assertThat(ring.drain())
                .containsExactly(new byte[] {7, 0, 0, 0, 0, 0, 0, 0}, new byte[] {9, 0, 0, 0});
        assertThat(ring.query(0)).isZero();
    }

    /** kernel/bpf/ringbuf.c: a ring of 4096 bytes takes 255 records of 8. */
    @Test
    void aFullRingRefuses() {
        VirtualRing ring = new VirtualRing("events", 4096);
        int taken = 0;
        while (ring.output(new byte[8], 0) == 0) {
            taken++;
        }
        assertThat(taken).isEqualTo(255);
        assertThat(ring.dropped()).isEqualTo(1);
        assertThat(ring.drain()).hasSize(255);
        assertThat(ring.output(new byte[8], 0)).isZero();
    }

    @Test
    void loopsCallBackWithIndexAndContext() throws Exception {
        assertThat(
                        run(
                                """
                                *(u64 *)(r10 -8) = 0
                                r1 = 100
                                r2 = subprog[add]
                                r3 = r10
                                r3 += -8
                                r4 = 0
                                call bpf_loop
                                r1 = *(u64 *)(r10 -8)
                                r0 *= 1000
                                r0 += r1
                                exit
                                add:
                                r3 = *(u64 *)(r2 +0)
                                r3 += r1
                                *(u64 *)(r2 +0) = r3
                                r0 = 0
                                if r1 < 0x9 goto more
                                r0 = 1
                                more: exit
                                """))
                .isEqualTo(10 * 1000 + 45);
    }

    @Test
    void tailCallsDoNotReturn() throws Exception {
        VirtualPrograms programs = new VirtualPrograms("next", 2);
        machine.map(3, programs);
        programs.put(1, machine.load(Assembler.assemble("r0 = 42\nexit")));
        String call = "r2 = map[fd:3]\nr3 = %d\ncall bpf_tail_call\nr0 = 7\nexit";
        assertThat(run(call.formatted(1))).isEqualTo(42);
        assertThat(run(call.formatted(0))).isEqualTo(7);
    }

    @Test
    void tailCallsOfSubprogramsReturnToTheirCaller() throws Exception {
        VirtualPrograms programs = new VirtualPrograms("next", 2);
        machine.map(3, programs);
        programs.put(0, machine.load(Assembler.assemble("r6 = 9\nr0 = 42\nexit")));
        assertThat(
                        run(
                                """
                                r6 = 100
                                call sub
                                r0 += r6
                                exit
                                sub:
                                r2 = map[fd:3]
                                r3 = 0
                                call bpf_tail_call
                                r0 = 7
                                exit
                                """))
                .isEqualTo(142);
    }

    @Test
    void tailCallsEnd() throws Exception {
        VirtualPrograms programs = new VirtualPrograms("next", 1);
        VirtualArray counts = VirtualArray.of("counts", 8, 1);
        machine.map(3, programs).map(4, counts);
        VirtualProgram again =
                machine.load(
                        Assembler.assemble(
                                """
                                r2 = map[fd:4][0]+0
                                r3 = 1
                                lock *(u64 *)(r2 +0) += r3
                                r2 = map[fd:3]
                                r3 = 0
                                call bpf_tail_call
                                r0 = 5
                                exit
                                """));
        programs.put(0, again);
        assertThat(again.run(ProgramContext.none())).isEqualTo(5);
        assertThat(counts.get(VirtualArray.key(0))).startsWith(34);
    }

    @Test
    void traceIsFormattedAsTheKernelDoes() throws Exception {
        List<String> lines = new ArrayList<>();
        BpfMachine traced =
                new BpfMachine(
                        new MachineEnvironment() {
                            @Override
                            public void trace(String line) {
                                lines.add(line);
                            }

                            @Override
                            public String comm() {
                                return "a-rather-long-name";
                            }

                            @Override
                            public boolean read(long address, byte[] into, boolean user) {
                                byte[] memory = "hello".getBytes(StandardCharsets.US_ASCII);
                                long at = address - 0x7000;
                                if (!user || at < 0 || at + into.length > memory.length + 1) {
                                    return false;
                                }
                                byte[] ended = java.util.Arrays.copyOf(memory, 6);
                                System.arraycopy(ended, (int) at, into, 0, into.length);
                                return true;
                            }
                        });
        // "%s %5d %lx": as little-endian words
        traced.load(
                        Assembler.assemble(
                                """
                                r1 = 0x2064352520732520
                                *(u64 *)(r10 -16) = r1
                                r1 = 0x786c25
                                *(u64 *)(r10 -8) = r1
                                r1 = r10
                                r1 += -32
                                r2 = 16
                                call bpf_get_current_comm
                                r1 = r10
                                r1 += -48
                                r2 = 16
                                r3 = 0x7000
                                call bpf_probe_read_user_str
                                r6 = r0
                                r1 = r10
                                r1 += -16
                                r2 = 12
                                r3 = r10
                                r3 += -32
                                r4 = r6
                                r5 = 0xabcdef0123
                                call bpf_trace_printk
                                r0 = 0
                                exit
                                """))
                .run(ProgramContext.none());
        assertThat(lines).containsExactly(" a-rather-long-n     6 abcdef0123");
    }

    @Test
    void leastRecentlyUsedGoesFirst() {
        VirtualHash map = VirtualHash.recent("recent", 1, 1, 2);
        map.update(new byte[] {1}, new byte[] {1}, 0, 0);
        map.update(new byte[] {2}, new byte[] {2}, 0, 0);
        assertThat(map.get(new byte[] {1})).containsExactly(1);
        assertThat(map.update(new byte[] {3}, new byte[] {3}, 0, 0)).isZero();
        assertThat(map.get(new byte[] {2})).isNull();
        assertThat(map.keys()).hasSize(2);
    }

    @Test
    void aValueOutlivesItsEntryUntilTheRunEnds() throws Exception {
        machine.map(3, VirtualHash.of("h", 4, 8, 4));
        assertThat(
                        run(
                                """
                                *(u32 *)(r10 -4) = 1
                                *(u64 *)(r10 -16) = 77
                                r1 = map[fd:3]
                                r2 = r10
                                r2 += -4
                                r3 = r10
                                r3 += -16
                                r4 = 0
                                call bpf_map_update_elem
                                r1 = map[fd:3]
                                r2 = r10
                                r2 += -4
                                call bpf_map_lookup_elem
                                r6 = r0
                                r1 = map[fd:3]
                                r2 = r10
                                r2 += -4
                                call bpf_map_delete_elem
                                r0 = *(u64 *)(r6 +0)
                                exit
                                """))
                .isEqualTo(77);
    }
}
