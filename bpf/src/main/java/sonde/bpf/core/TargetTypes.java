package sonde.bpf.core;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;

/** Where types of the target kernel are looked for: its own first, then those of its modules. */
public interface TargetTypes {
    /** The kernel's own. */
    Btf kernel() throws IOException;

    /** Those of modules; asked only when the kernel itself has none that fits. */
    List<Btf> modules() throws IOException;

    /** The types of the kernel alone, or of a file. */
    static TargetTypes of(Btf kernel) {
        return new TargetTypes() {
            @Override
            public Btf kernel() {
                return kernel;
            }

            @Override
            public List<Btf> modules() {
                return List.of();
            }
        };
    }

    /**
     * A type that may be meant.
     *
     * @param btf that it is in
     */
    record TypeCandidate(Btf btf, int id) {}

    /**
     * The types with a name and of the kind of another one.
     *
     * @param name without flavour
     */
    default List<TypeCandidate> candidates(String name, BtfType like) throws IOException {
        List<TypeCandidate> found = new ArrayList<>();
        add(found, kernel(), name, like);
        if (found.isEmpty()) {
            for (Btf module : modules()) {
                add(found, module, name, like);
            }
        }
        return found;
    }

    private static void add(List<TypeCandidate> found, Btf btf, String name, BtfType like)
            throws IOException {
        for (int id : btf.findEach(name)) {
            if (isAlike(btf.type(id), like)) {
                found.add(new TypeCandidate(btf, id));
            }
        }
    }

    private static boolean isAlike(BtfType type, BtfType like) {
        return type instanceof BtfType.Struct s && like instanceof BtfType.Struct l
                ? s.isUnion() == l.isUnion()
                : type.getClass() == like.getClass();
    }
}
