package sonde.bpf.object;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.btf.BtfExtension.LineEntry;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.LoadedBtf;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * The types of an object in the kernel, with the texts of its source lines. Kernels that do not
 * know a kind of type get one in its place that they know; ids stay the same.
 */
final class ObjectBtf {
    private final BtfWriter writer = new BtfWriter();

    private final List<BtfType> types;
    private final List<ObjectFunction> functions;

    /** Makes the blob, and asks nothing of the kernel. */
    ObjectBtf(List<BtfType> types, List<ObjectFunction> functions) {
        this.types = types;
        this.functions = functions;
        for (BtfType type : types.subList(1, types.size())) {
            writer.add(type);
        }
        for (ObjectFunction function : functions) {
            for (LineEntry line : function.lines()) {
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
    record LoadedTypes(LoadedBtf btf, ObjectBtf types) {}

    /** Loads them: as they are, and when that fails without what this kernel does not know. */
    LoadedTypes load() throws IOException {
        try {
            return new LoadedTypes(LoadedBtf.load(writer.bytes()), this);
        } catch (SyscallException e) {
            if (e.errno() != Errno.EINVAL) {
                throw e;
            }
            List<BtfType> known = new ArrayList<>(types);
            TypeSupport.ofThisKernel().adapt(known);
            if (known.equals(types)) {
                throw e;
            }
            ObjectBtf adapted = new ObjectBtf(known, functions);
            return new LoadedTypes(LoadedBtf.load(adapted.writer.bytes()), adapted);
        }
    }
}
