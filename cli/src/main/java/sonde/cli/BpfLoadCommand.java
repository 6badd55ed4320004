package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import sonde.bpf.object.LoadedObject;
import sonde.tools.bpf.UnattachedPrograms;

/** {@code sonde bpf load}. */
final class BpfLoadCommand {
    static final String MODEL =
            """
            sonde bpf load [OPTIONS] OBJECT...

            Load the programs and maps of objects. With --pin they stay, under their names in a
            bpffs: programs in DIR, maps in DIR/maps, attachments in DIR/links. Without --pin they
            are unloaded at once: that tests whether this kernel accepts them.
            """
                    + BpfObjectArguments.MODEL
                    + """

                    Attachment:
                      --pin DIR       keep the programs under their names in this folder of a bpffs
                      --attach        attach each program as its section says

                    Examples:
                      sonde bpf load switches.bpf.o                          does it load?
                      sonde bpf load switches.bpf.o --pin /sys/fs/bpf/sw --attach
                      rm -r /sys/fs/bpf/sw                                   unloads it
                      sonde bpf load a.bpf.o b.bpf.o                         linked into one
                      sonde bpf load a.bpf.o --btf other-kernel.btf --json

                    Exit status:
                      0 loaded, 3 this kernel or user cannot, 4 OBJECT is none
                    """;

    private BpfLoadCommand() {}

    static int run(CommandCall call) throws Exception {
        boolean attach = call.has("--attach");
        Path pin = call.given().path("--pin");
        try (LoadedObject object = BpfObjectArguments.recipe(call).load()) {
            if (attach) {
                object.attach(BpfObjectArguments.places(call).targets());
            }
            List<Path> pins = pin == null ? List.of() : object.pin(pin);
            BpfObjectArguments.show(call, object, pins);
            if (attach) {
                UnattachedPrograms.of(object).forEach(one -> call.say("not attached: " + one));
            }
        }
        if (pin == null) {
            call.say("all of it is given back; --pin DIR keeps it");
        }
        return ExitCode.DONE;
    }
}
