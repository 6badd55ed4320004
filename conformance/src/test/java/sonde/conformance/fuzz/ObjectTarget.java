package sonde.conformance.fuzz;

import java.io.IOException;
import sonde.bpf.object.ObjectException;
import sonde.bpf.object.ObjectFile;

/**
 * What a fuzzer calls: bytes are an eBPF object, which is read with everything in it that needs no
 * kernel. Any exception but the typed one is a defect.
 */
public final class ObjectTarget {
    private ObjectTarget() {}

    /** Jazzer's entry. */
    public static void fuzzerTestOneInput(byte[] bytes) throws IOException {
        try {
            ObjectFile file = ObjectFile.of("fuzz.bpf.o", bytes);
        } catch (ObjectException e) {
            // What an object that is none deserves.
        }
    }
}
