package sonde.bpf.verifier;

import org.jspecify.annotations.Nullable;

/**
 * One thing that happened to a value before the verifier stopped.
 *
 * @param slot of the instruction; -1 for what was there when the program began
 * @param instruction as the kernel prints it; empty at the beginning
 * @param what it did to the value: {@code "r0 is what bpf_map_lookup_elem returned"}
 * @param state what the verifier knew of the value afterwards; empty when it does not say
 */
public record HistoryStep(
        int slot, String instruction, @Nullable SourceLine source, String what, String state) {}
