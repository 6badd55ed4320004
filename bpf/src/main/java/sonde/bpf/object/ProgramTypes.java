package sonde.bpf.object;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.btf.BtfExtension;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.LoadedBtf;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * The types of an object in the kernel, with the texts of its source lines. Kernels that do not
 * know a kind of type get one in its place that they know; ids stay the same.
 */
final class ProgramTypes {
    private final BtfWriter writer = new BtfWriter();

    private final List<BtfType> types;
    private final List<Function> functions;

    /** Makes the blob, and asks nothing of the kernel. */
    ProgramTypes(List<BtfType> types, List<Function> functions) {
        this.types = types;
        this.functions = functions;
        for (BtfType type : types.subList(1, types.size())) {
            writer.add(type);
        }
        for (Function function : functions) {
            for (BtfExtension.Line line : function.lines()) {
                writer.string(line.file());
                writer.string(line.text());
            }
        }
    }

    /** Where more types and texts may be added behind these. */
    BtfWriter writer() {
        return writer;
    }

    /** The types by id, the first void. */
    List<BtfType> types() {
        return types;
    }

    /** Offset of a text among those of the types. */
    int text(String text) {
        return writer.string(text);
    }

    /**
     * Types in the kernel.
     *
     * @param btf the caller's to close
     */
    record Loaded(LoadedBtf btf, ProgramTypes types) {}

    /** Loads them: as they are, and when that fails without what this kernel does not know. */
    Loaded load() throws IOException {
        try {
            return new Loaded(LoadedBtf.load(writer.bytes()), this);
        } catch (SyscallException e) {
            if (e.errno() != Errno.EINVAL) {
                throw e;
            }
            List<BtfType> known = new ArrayList<>(types);
            TypeSupport.ofThisKernel().adapt(known);
            if (known.equals(types)) {
                throw e;
            }
            ProgramTypes adapted = new ProgramTypes(known, functions);
            return new Loaded(LoadedBtf.load(adapted.writer.bytes()), adapted);
        }
    }
}
