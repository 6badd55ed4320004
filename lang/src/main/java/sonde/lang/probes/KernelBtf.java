package sonde.lang.probes;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.link.KernelTypes;
import sonde.event.Glob;

/**
 * The types of the kernel and its modules, each read when first asked for; may be shared by all
 * that ask.
 */
public final class KernelBtf implements AutoCloseable {
    private static final String FOLDER = "/sys/kernel/btf";

    private @Nullable KernelTypes kernel;
    private boolean missing;
    private @Nullable List<KernelBtfModule> modules;

    /** Nothing read yet. */
    public KernelBtf() {}

    /** Types of the kernel ({@code "vmlinux"}) or a module, whose ids follow the kernel's. */
    public record KernelBtfModule(String name, Btf btf) {
        /** The first type of its own with that name that fits; 0 for none. */
        int find(String type, Predicate<BtfType> fits) throws IOException {
            int id = btf.find(type, fits);
            return id >= btf.firstId() ? id : 0;
        }

        /** Goes through the ids of its own types. */
        void forEach(IntConsumer ids) {
            for (int id = btf.firstId(); id < btf.end(); id++) {
                ids.accept(id);
            }
        }
    }

    /** Whether this kernel tells its types. */
    public boolean isThere() throws IOException {
        return vmlinux() != null;
    }

    /** Those of the kernel itself; null where it was built without. */
    public @Nullable Btf vmlinux() throws IOException {
        KernelTypes types = kernel;
        if (types == null && !missing) {
            try {
                types = KernelTypes.open();
                kernel = types;
            } catch (BpfRefusedException e) {
                missing = true;
            }
        }
        return types == null ? null : types.btf();
    }

    /** The kernel's first, then the modules', by name. */
    public List<KernelBtfModule> all() throws IOException {
        List<KernelBtfModule> known = modules;
        if (known == null) {
            known = new ArrayList<>();
            Btf base = vmlinux();
            if (base != null) {
                known.add(new KernelBtfModule(TraceableFunctions.KERNEL, base));
                String[] names = new File(FOLDER).list();
                String[] sorted = names == null ? new String[0] : names;
                Arrays.sort(sorted);
                for (String name : sorted) {
                    if (!name.equals(TraceableFunctions.KERNEL)) {
                        known.add(new KernelBtfModule(name, split(name, base)));
                    }
                }
            }
            modules = known;
        }
        return known;
    }

    /** Those of the modules that a pattern names. */
    List<KernelBtfModule> like(Glob glob) throws IOException {
        Btf base = vmlinux();
        if (base != null && glob.toString().equals(TraceableFunctions.KERNEL)) {
            return List.of(new KernelBtfModule(TraceableFunctions.KERNEL, base));
        }
        return all().stream().filter(module -> glob.matches(module.name())).toList();
    }

    private static Btf split(String name, Btf base) throws IOException {
        return Btf.readSplit(KernelTypes.file(FOLDER + "/" + name), base);
    }

    /** Takes the mapping back. */
    @Override
    public void close() {
        if (kernel != null) {
            kernel.close();
            kernel = null;
        }
    }
}
