package sonde.cli;

import java.util.List;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.TypeRecipe;

/** {@code sonde bpf btf}. */
final class BpfBtfCommand {
    static final String MODEL =
            """
            sonde bpf btf [OPTIONS] list|dump [WHAT...]

            List BTF objects, or dump types of the kernel, a file, a program or a map.

            Arguments:
              ACTION          list or dump
              [WHAT...]       what is dumped, see below

            Options:
              -B, --base-btf FILE
                              the BTF that a split one refers to; for modules it is vmlinux
              --json          print JSON with the keys of bpftool

            What dump takes:
              id NUMBER | file PATH | prog id NUMBER | map id NUMBER [key|value] | name NAME, which
              is a type of the running kernel with its offsets; then 'format raw' (default) or
              'format c'; 'root_id N' for one type and what it needs; 'member NAME' after name

            Examples:
              sonde bpf btf list
              sonde bpf btf dump name task_struct                 members, offsets, sizes
              sonde bpf btf dump name task_struct member pid
              sonde bpf btf dump file /sys/kernel/btf/vmlinux format c > vmlinux.h
              sonde bpf btf dump prog id 12
              sonde bpf btf dump map name counts value format c
            """;

    private BpfBtfCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        List<String> actions = List.of("list", "show", "dump");
        String action = BpfActions.check(words, actions).getFirst();
        if (!action.equals("dump")) {
            return ResultPrinter.onOut(InventoryRecipe.types(), call.json());
        }
        return ResultPrinter.onOut(
                new TypeRecipe(words.subList(1, words.size()), call.given().path("--base-btf"))
                        .run(),
                call.json());
    }
}
