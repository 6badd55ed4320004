package sonde.cli;

import sonde.tools.bpf.FeatureRecipe;

/** {@code sonde bpf feature}. */
final class BpfFeatureCommand {
    static final String MODEL =
            """
            sonde bpf feature [OPTIONS] [WORD...]

            Show what this kernel's BPF can do: yes, no, or cannot tell and why. Answers are kept
            until the next boot.

            Arguments:
              [WORD...]       program_type, map_type, attach_type, limit or helper, and a name;
                              kfunc, a program type and optionally a name

            Options:
              --fresh         ask the kernel instead of using kept answers
              --json          print JSON with the keys of bpftool

            Examples:
              sonde bpf feature              program types, map types, places, limits
              sonde bpf feature helper xdp   the helpers that xdp programs may call
              sonde bpf feature kfunc xdp    the kernel functions that they may call
              sonde bpf feature kfunc tracing bpf_task_acquire

            Exit status:
              0 something matches, 1 nothing does
            """;

    private BpfFeatureCommand() {}

    static int run(CommandCall call) throws Exception {
        return ResultPrinter.onOut(
                new FeatureRecipe(call.given().words(), call.has("--fresh")).run(), call.json());
    }
}
