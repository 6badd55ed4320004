package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrFunction;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCallKernel;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.ProbeGroup;

/**
 * Pairs of blocks at the begin and the return of the same functions of the kernel: one program of
 * both, with one link (kprobe.session, Linux 6.10).
 */
final class SessionPairs {
    /** The function of the kernel that says where such a program is. */
    static final String IS_RETURN = "bpf_session_is_return";

    private SessionPairs() {}

    /**
     * The places of blocks whose functions another block waits for the return of, and of those.
     *
     * @param groups of each block one
     * @param there whether the kernel has sessions; asked when there is a pair
     */
    static List<Pair> pairs(List<ProbeGroup> groups, BooleanSupplier there) {
        Map<List<String>, Integer> begins = only(groups, Kind.KPROBE);
        List<Pair> pairs = new ArrayList<>();
        only(groups, Kind.KRETPROBE)
                .forEach((functions, atReturn) -> {
                    Integer begin = begins.get(functions);
                    if (begin != null && there.getAsBoolean()) {
                        pairs.add(new Pair(begin, atReturn));
                    }
                });
        return pairs;
    }

    /** Where the functions are that one group alone has, in the order of the groups. */
    private static Map<List<String>, Integer> only(List<ProbeGroup> groups, Kind kind) {
        Map<List<String>, Integer> places = new LinkedHashMap<>();
        Set<List<String>> repeated = new HashSet<>();
        for (int i = 0; i < groups.size(); i++) {
            List<String> functions = functions(groups.get(i), kind);
            if (!functions.isEmpty() && places.put(functions, i) != null) {
                repeated.add(functions);
            }
        }
        places.keySet().removeAll(repeated);
        return places;
    }

    /** Places in a list of groups. */
    record Pair(int begin, int atReturn) {}

    /** Whole functions of the kernel itself; empty for others. */
    private static List<String> functions(ProbeGroup group, Kind kind) {
        List<String> names = new ArrayList<>();
        for (Probe probe : group.probes()) {
            if (!(probe instanceof KernelProbe k)
                    || k.kind() != kind
                    || k.offset() != 0
                    || k.address() != 0
                    || !k.module().isEmpty()) {
                return List.of();
            }
            names.add(k.function());
        }
        return names;
    }

    /** Calls one or the other; 0 at the begin lets the kernel run it at the return. */
    static IrFunction joined(String name, IrFunction begin, IrFunction atReturn) {
        IrFunction main = new IrFunction(name, List.of(VirtualRegister.Kind.POINTER));
        main.from(begin.layout().getFirst().steps().getFirst().span());
        IrOperand context = main.parameters().getFirst();
        VirtualRegister is = main.scalar();
        main.add(new IrCallKernel(is, IS_RETURN, List.of()));
        // A bool: the other bits of the register may be anything.
        VirtualRegister bit = main.scalar();
        main.add(new IrAlu(AluOperation.AND, true, bit, is, IrOperand.of(1)));
        BasicBlock last = main.block();
        BasicBlock first = main.block();
        main.add(new IrBranch(JumpCondition.NOT_EQUAL, true, bit, IrOperand.of(0), last, first));
        main.start(first);
        main.add(new IrCallLocal(main.scalar(), begin, List.of(context)));
        main.add(new IrReturn(IrOperand.of(0)));
        main.start(last);
        main.add(new IrCallLocal(main.scalar(), atReturn, List.of(context)));
        main.add(new IrReturn(IrOperand.of(0)));
        return main;
    }
}
