package sonde.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import sonde.bpf.object.LoadedObject;
import sonde.tools.bpf.ObjectRecipe;
import sonde.tools.bpf.ObjectRecipe.AttachPlaces;
import sonde.view.TextEscape;

/** What {@code sonde bpf load} and {@code sonde bpf attach} have in common. */
final class BpfObjectArguments {
    static final String MODEL =
            """

            Arguments:
              OBJECT...       made by clang -g -O2 -target bpf -c; several are linked into one

            Options:
              --btf FILE      relocate programs to these types, not to those of the running kernel
              --only PROGRAM  load this program only (repeatable)
              --map-entries NAME=N
                              give this map room for N entries (repeatable)
              --map-pins DIR  maps that are pinned by name are here instead of in /sys/fs/bpf
              --dev DEVICE    attach xdp and tcx programs to this network device
              --cgroup DIR    attach cgroup programs to this cgroup
              --netns FILE    attach netns programs to this network namespace
              -p, --pid PID   attach user-space probes for this process only
              --json          print JSON with the keys of bpftool
            """;

    private BpfObjectArguments() {}

    /** The objects, and what of them is loaded. */
    static ObjectRecipe recipe(CommandCall call) {
        List<String> only = call.given().texts("--only");
        return new ObjectRecipe(
                call.given().paths(),
                call.given().path("--btf"),
                only.isEmpty() ? null : only,
                call.given().path("--map-pins"),
                call.given().texts("--map-entries"));
    }

    static AttachPlaces places(CommandCall call) {
        return new AttachPlaces(
                call.given().text("--dev"),
                call.given().text("--cgroup"),
                call.given().text("--netns"),
                (int) call.given().number("--pid").orElse(-1));
    }

    /** What was loaded, attached and pinned. */
    static void show(CommandCall call, LoadedObject object, List<Path> pins) throws IOException {
        ResultPrinter.onOut(ObjectRecipe.shown(object, pins), call.json());
        if (call.given().texts("--only").isEmpty()) {
            ObjectRecipe.left(object)
                    .forEach(name ->
                            call.say(
                                    "not loaded: "
                                            + TextEscape.line(name)
                                            + ", which is loaded only when asked for (--only)"));
        }
    }
}
