package sonde.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import sonde.bpf.object.LoadedObject;
import sonde.tools.bpf.ObjectRecipe;

/** What {@code sonde bpf load} and {@code sonde bpf attach} have in common. */
final class BpfObjectArguments {
    @Parameters(
            arity = "1..*",
            paramLabel = "OBJECT",
            description = "made by clang -g -O2 -target bpf -c; several are linked into one")
    private List<Path> objects;

    @Option(
            names = "--btf",
            paramLabel = "FILE",
            description = "fit programs to these types, not to the running kernel's")
    private @Nullable Path btf;

    @Option(
            names = "--only",
            paramLabel = "PROGRAM",
            description = "load this program only; may be given several times")
    private @Nullable List<String> only;

    @Option(
            names = "--map-pins",
            paramLabel = "DIR",
            description = "where maps that are pinned by name are (default /sys/fs/bpf)")
    private @Nullable Path mapPins;

    @Option(
            names = "--dev",
            paramLabel = "DEVICE",
            description = "attach xdp and tcx programs here")
    private @Nullable String device;

    @Option(names = "--cgroup", paramLabel = "DIR", description = "attach cgroup programs here")
    private @Nullable String cgroup;

    @Option(names = "--netns", paramLabel = "FILE", description = "attach netns programs here")
    private @Nullable String netns;

    @Option(
            names = "--pid",
            paramLabel = "PID",
            defaultValue = "-1",
            description = "user-space probes are for this process only")
    private int pid;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfObjectArguments() {
        objects = List.of();
    }

    /** The objects, and what of them is loaded. */
    ObjectRecipe recipe() {
        return new ObjectRecipe(objects, btf, only, mapPins);
    }

    ObjectRecipe.Places places() {
        return new ObjectRecipe.Places(device, cgroup, netns, pid);
    }

    /** What was loaded, attached and pinned. */
    void show(LoadedObject object, List<Path> pins) throws IOException {
        Shown.onOut(ObjectRecipe.shown(object, pins), json);
    }
}
