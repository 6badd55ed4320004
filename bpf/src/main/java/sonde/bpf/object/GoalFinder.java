package sonde.bpf.object;

import java.io.IOException;
import sonde.binary.btf.BtfType;
import sonde.bpf.Program;
import sonde.bpf.object.KernelBtfs.ModuleBtf;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ProgramSection.AttachWay;

/** Finds what the names of sections stand for in the running kernel. */
final class GoalFinder {
    private final ObjectFile object;
    private final LoadOptions options;
    private final KernelBtfs kernel;

    GoalFinder(ObjectFile object, LoadOptions options, KernelBtfs kernel) {
        this.object = object;
        this.options = options;
        this.kernel = kernel;
    }

    private ObjectPosition place(ObjectProgram program) {
        return object.place().section(program.sectionName()).symbol(program.name());
    }

    /** The kind of a program; those that cannot be loaded are told. */
    ProgramSection section(ObjectProgram program) throws ObjectException {
        ProgramSection section = program.section();
        if (section == null) {
            throw new ObjectException(
                    place(program),
                    "no kind of program has that section name; there are "
                            + String.join(", ", ProgramSection.near(program.sectionName()))
                            + " and others");
        }
        if (section.way() == AttachWay.STRUCT_OPS) {
            throw new ObjectException(
                    place(program), "structures of functions (struct_ops) are not loaded");
        }
        return section;
    }

    /** What a program is loaded for. */
    ProgramGoal goal(ObjectProgram program, ProgramSection section) throws IOException {
        if (section.way() == AttachWay.REPLACEMENT) {
            Program of = options.replaced().get(program.name());
            if (of == null) {
                throw new ObjectException(
                        place(program), "the program whose function it replaces is not given");
            }
            return new ProgramGoal(ReplacedFunction.find(of, section.target()), of.fd());
        }
        if (!section.namesKernelType() || section.target().isEmpty()) {
            if (section.namesKernelType()) {
                throw new ObjectException(
                        place(program), "the section does not name what it is for");
            }
            return new ProgramGoal(0, 0);
        }
        String name =
                switch (section.way()) {
                    case TYPED_TRACEPOINT -> "btf_trace_" + section.target();
                    case SECURITY_HOOK, CGROUP_SECURITY_HOOK -> "bpf_lsm_" + section.target();
                    case ITERATOR -> "bpf_iter_" + section.target();
                    default -> section.target();
                };
        boolean typedef = section.way() == AttachWay.TYPED_TRACEPOINT;
        Class<? extends BtfType> kind = typedef ? BtfType.Typedef.class : BtfType.Func.class;
        int colon = name.indexOf(':');
        String module = colon < 0 || typedef ? "" : name.substring(0, colon);
        String plain = module.isEmpty() ? name : name.substring(colon + 1);
        if (module.isEmpty() || module.equals("vmlinux")) {
            int id = kernel.vmlinux().btf().find(plain, kind::isInstance);
            if (id != 0) {
                return new ProgramGoal(id, 0);
            }
        }
        for (ModuleBtf one : kernel.moduleTypes()) {
            int id = one.btf().find(plain, kind::isInstance);
            if (id >= one.btf().firstId() && (module.isEmpty() || module.equals(one.name()))) {
                return new ProgramGoal(id, one.types().fd());
            }
        }
        throw new ObjectException(
                place(program), "this kernel's BTF has no " + plain + ", which the section names");
    }
}
