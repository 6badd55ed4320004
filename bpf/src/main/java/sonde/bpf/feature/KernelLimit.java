package sonde.bpf.feature;

import java.util.Arrays;

/** What newer kernels let programs do: each a small program that older ones refuse. */
public enum KernelLimit {
    /** Programs of up to a million instructions for those with rights (5.2), not 4096. */
    LARGE_INSTRUCTION_LIMIT("have_large_insn_limit"),
    /** Loops that the verifier can follow to their end (5.3). */
    BOUNDED_LOOPS("have_bounded_loops"),
    /** Jumps by less-than (4.14). */
    ISA_V2("have_v2_isa_extension"),
    /** Jumps by 32 bits (5.1). */
    ISA_V3("have_v3_isa_extension"),
    /** Sign-extending moves, and with them loads, swaps and divisions (6.6). */
    ISA_V4("have_v4_isa_extension"),
    /** Calls of functions of the program itself (4.16). */
    SUBPROGRAMS("have_subprograms"),
    /** Atomics that return the old value (5.12). */
    FETCHING_ATOMICS("have_fetching_atomics"),
    /** Loops ended by a count of the kernel: may_goto (6.9). */
    MAY_GOTO("have_may_goto");

    private final String key;

    KernelLimit(String key) {
        this.key = key;
    }

    /** The key in JSON; bpftool's where it has one. */
    public String key() {
        return key;
    }

    long[] words() {
        return switch (this) {
            case LARGE_INSTRUCTION_LIMIT -> {
                long[] words = new long[4098];
                Arrays.fill(words, TrialLoad.R0_ZERO);
                words[words.length - 1] = TrialLoad.EXIT;
                yield words;
            }
            // r0 = 10; r0 -= 1; if r0 != 0 goto -2; exit
            case BOUNDED_LOOPS ->
                    new long[] {
                        TrialLoad.R0_ZERO | 10L << 32,
                        0x17 | 1L << 32,
                        0x55 | 0xfffeL << 16,
                        TrialLoad.EXIT
                    };
            // r0 = 0; if r0 < 5 goto +1; r0 = 1; exit
            case ISA_V2 ->
                    new long[] {
                        TrialLoad.R0_ZERO,
                        0xa5 | 1 << 16 | 5L << 32,
                        TrialLoad.R0_ZERO | 1L << 32,
                        TrialLoad.EXIT
                    };
            case ISA_V3 ->
                    new long[] {
                        TrialLoad.R0_ZERO,
                        0xa6 | 1 << 16 | 5L << 32,
                        TrialLoad.R0_ZERO | 1L << 32,
                        TrialLoad.EXIT
                    };
            // r1 = 1; r0 = (s8)r1; exit
            case ISA_V4 ->
                    new long[] {0xb7 | 1 << 8 | 1L << 32, 0xbf | 1 << 12 | 8 << 16, TrialLoad.EXIT};
            // call +1; exit; r0 = 0; exit
            case SUBPROGRAMS ->
                    new long[] {
                        0x85 | 1 << 12 | 1L << 32, TrialLoad.EXIT, TrialLoad.R0_ZERO, TrialLoad.EXIT
                    };
            // *(u64 *)(r10 - 8) = 0; r0 = 1; r0 = atomic_fetch_add((u64 *)(r10 - 8), r0); r0 = 0
            case FETCHING_ATOMICS ->
                    new long[] {
                        0x7a | 10 << 8 | 0xfff8L << 16,
                        TrialLoad.R0_ZERO | 1L << 32,
                        0xdb | 10 << 8 | 0xfff8L << 16 | 1L << 32,
                        TrialLoad.R0_ZERO,
                        TrialLoad.EXIT
                    };
            // r0 = 0; may_goto +1; goto -2; exit
            case MAY_GOTO ->
                    new long[] {
                        TrialLoad.R0_ZERO, 0xe5 | 1 << 16, 0x05 | 0xfffeL << 16, TrialLoad.EXIT
                    };
        };
    }
}
