package sonde.bpf.object;

import java.io.IOException;
import sonde.bpf.Link;
import sonde.bpf.Program;

/** Attaches programs to USDT probes as bpf_usdt.h (usdt.bpf.h of libbpf) expects it. */
final class UsdtAttach {
    private final LoadedObject object;
    private final ObjectException.Place place;

    UsdtAttach(LoadedObject object, ObjectException.Place place) {
        this.object = object;
        this.place = place;
    }

    Link attach(Program program, String target, AttachTargets targets) throws IOException {
        throw new ObjectException(
                place,
                "USDT "
                        + target
                        + " of "
                        + object.object().name()
                        + " for "
                        + targets.pid()
                        + program);
    }
}
