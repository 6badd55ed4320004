package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sonde.bpf.object.LoadedObject;
import sonde.tools.bpf.Unattached;

/** {@code sonde bpf load}. */
@Command(
        name = "load",
        mixinStandardHelpOptions = true,
        description = {
            "Loads the programs and maps of objects. With --pin they stay, under their names in a"
                    + " bpffs: programs in DIR, maps in DIR/maps, attachments in DIR/links. Without"
                    + " they are given back at once: then it is a test that this kernel takes"
                    + " them."
        },
        footer = {
            "",
            "Examples:",
            "  sonde bpf load switches.bpf.o                          does this kernel take it?",
            "  sonde bpf load switches.bpf.o --pin /sys/fs/bpf/sw --attach",
            "  rm -r /sys/fs/bpf/sw                                   gives it back",
            "  sonde bpf load a.bpf.o b.bpf.o                         linked into one",
            "  sonde bpf load a.bpf.o --btf other-kernel.btf --json",
            "",
            "Exit status: 0 loaded, 3 this kernel or user cannot, 4 OBJECT is none."
        })
final class BpfLoadCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Mixin private @Nullable BpfObjectArguments arguments;

    @Option(names = "--pin", paramLabel = "DIR", description = "a folder in a bpffs for the names")
    private @Nullable Path pin;

    @Option(names = "--attach", description = "attach each program as its section says")
    private boolean attach;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfLoadCommand() {}

    @Override
    public Integer call() throws Exception {
        var line = spec.commandLine();
        BpfObjectArguments given = Objects.requireNonNull(arguments);
        try (LoadedObject object = given.recipe().load()) {
            if (attach) {
                object.attach(given.places().targets());
            }
            List<Path> pins = pin == null ? List.of() : object.pin(pin);
            given.show(object, pins);
            if (attach) {
                Unattached.of(object)
                        .forEach(one -> Failures.say(line.getErr(), "not attached: " + one));
            }
        }
        if (pin == null) {
            Failures.say(line.getErr(), "all of it is given back; --pin DIR keeps it");
        }
        return ExitCode.DONE;
    }
}
