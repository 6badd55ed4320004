package sonde.lang.ir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.IrCopy;

/**
 * Gives registers of the machine to those of a function, in the order in which their lives begin.
 * One that finds none takes that of others that are cheaper to keep in memory, or goes there
 * itself. Registers that are copied into each other get the same if they can.
 */
final class RegisterAllocation {
    private static final int REGISTERS = 10;
    private static final int[] ORDER = {0, 5, 4, 3, 2, 1, 6, 7, 8, 9};
    private static final int NOBODY = -1;
    private static final int HINT_DEPTH = 3;
    private static final int HINTS = 8;

    private final WorkingFunction body;
    private final LiveInterval[] intervals;
    private final double[] weights;
    private final int[] given;
    private final List<List<VirtualRegister>> copies = new ArrayList<>();
    private final RegisterOccupancy[] machine = new RegisterOccupancy[REGISTERS];
    private final Set<VirtualRegister> spilled = new HashSet<>();

    private RegisterAllocation(WorkingFunction body) {
        this.body = body;
        intervals = LiveInterval.of(body, LivenessSubjects.registers(body));
        weights = new double[intervals.length];
        given = new int[intervals.length];
        Arrays.fill(given, NOBODY);
        Arrays.setAll(machine, _ -> new RegisterOccupancy());
        for (int i = 0; i < intervals.length; i++) {
            copies.add(List.of());
        }
    }

    /**
     * A try.
     *
     * @param tiny registers that live for one step and must not go to memory
     */
    static RegisterAllocation of(WorkingFunction body, BitSet tiny) {
        RegisterAllocation allocation = new RegisterAllocation(body);
        allocation.weigh(tiny);
        allocation.fix();
        allocation.run();
        return allocation;
    }

    /** Which registers found none. */
    Set<VirtualRegister> spilled() {
        return spilled;
    }

    /** The register of the machine that one was given, 0 to 9. */
    int given(VirtualRegister register) {
        return given[register.index()];
    }

    /** What a register of the machine holds at a position; null for nothing. */
    @Nullable VirtualRegister holder(int register, int position) {
        Integer owner = machine[register].owner(position);
        return owner == null || owner < 0 ? null : body.registers().get(owner);
    }

    /** Uses count tenfold in every loop; what can be made again is cheaper to drop. */
    private void weigh(BitSet tiny) {
        int[] depths = depths();
        for (BasicBlock block : body.layout()) {
            double weight = Math.pow(10, Math.min(6, depths[block.index()]));
            for (BlockStep step : block.steps()) {
                IrOperation operation = step.operation();
                OperationEffects.reads(operation, register -> weights[register.index()] += weight);
                VirtualRegister to = OperationEffects.written(operation);
                if (to != null) {
                    weights[to.index()] += weight;
                }
                if (operation instanceof IrCopy(VirtualRegister a, VirtualRegister b)) {
                    copy(a, b);
                    copy(b, a);
                }
            }
        }
        @Nullable IrOperation[] definitions = body.definitions();
        for (int i = 0; i < weights.length; i++) {
            IrOperation definition = definitions[i];
            if (definition != null && OperationEffects.isRepeatable(definition)) {
                weights[i] *= 0.4;
            }
            weights[i] /= intervals[i].isEmpty() ? 1 : intervals[i].length();
            if (tiny.get(i) || body.registers().get(i).fixed() >= 0) {
                weights[i] = Double.POSITIVE_INFINITY;
            }
        }
    }

    private void copy(VirtualRegister a, VirtualRegister b) {
        if (copies.get(a.index()).isEmpty()) {
            copies.set(a.index(), new ArrayList<>(2));
        }
        copies.get(a.index()).add(b);
    }

    /** In how many loops each block is, taking whatever lies within a jump back for one. */
    private int[] depths() {
        int[] place = new int[body.blockCount()];
        List<BasicBlock> layout = body.layout();
        for (int i = 0; i < layout.size(); i++) {
            place[layout.get(i).index()] = i;
        }
        int[] change = new int[layout.size() + 1];
        for (int i = 0; i < layout.size(); i++) {
            for (BasicBlock target : OperationEffects.targets(layout.get(i))) {
                if (place[target.index()] <= i) {
                    change[place[target.index()]]++;
                    change[i + 1]--;
                }
            }
        }
        int[] depths = new int[body.blockCount()];
        int depth = 0;
        for (int i = 0; i < layout.size(); i++) {
            depth += change[i];
            depths[layout.get(i).index()] = depth;
        }
        return depths;
    }

    /** Takes the registers that arguments and results need, and those that calls lose. */
    private void fix() {
        for (int i = 0; i <= 5; i++) {
            int index = body.fixed(i).index();
            given[index] = i;
            machine[i].add(intervals[index], index);
        }
        int position = 0;
        for (BasicBlock block : body.layout()) {
            for (BlockStep step : block.steps()) {
                if (OperationEffects.isCall(step.operation())) {
                    for (int i = 0; i <= 5; i++) {
                        machine[i].block(position + 1, NOBODY);
                    }
                }
                position += 2;
            }
        }
    }

    private void run() {
        int[] order =
                IntStream.range(0, intervals.length)
                        .filter(i -> !intervals[i].isEmpty())
                        .filter(i -> body.registers().get(i).fixed() < 0)
                        .boxed()
                        .sorted((a, b) -> {
                            int first = Integer.compare(intervals[a].start(), intervals[b].start());
                            return first != 0 ? first : Integer.compare(a, b);
                        })
                        .mapToInt(Integer::intValue)
                        .toArray();
        for (int one : order) {
            if (!placeFree(one)) {
                placeByForce(one);
            }
        }
    }

    private boolean placeFree(int one) {
        VirtualRegister register = body.registers().get(one);
        int hint = hint(register, one, HINT_DEPTH, NOBODY);
        if (hint >= 0) {
            give(one, hint);
            return true;
        }
        for (int candidate : ORDER) {
            if (machine[candidate].isFree(intervals[one])) {
                give(one, candidate);
                return true;
            }
        }
        return false;
    }

    /** A free register that a copy of it has or wants; -1 for none. */
    private int hint(VirtualRegister of, int one, int depth, int from) {
        List<VirtualRegister> others = copies.get(of.index());
        // A variable may be copied a thousand times: the first few tell enough.
        others = others.subList(0, Math.min(HINTS, others.size()));
        for (VirtualRegister other : others) {
            int candidate = given[other.index()];
            if (candidate >= 0 && machine[candidate].isFree(intervals[one])) {
                return candidate;
            }
        }
        if (depth > 0) {
            for (VirtualRegister other : others) {
                if (other.index() != from && other.fixed() < 0) {
                    int candidate = hint(other, one, depth - 1, of.index());
                    if (candidate >= 0) {
                        return candidate;
                    }
                }
            }
        }
        return NOBODY;
    }

    private void give(int one, int register) {
        given[one] = register;
        machine[register].add(intervals[one], one);
    }

    /** Drives out those that weigh least, or goes to memory. */
    private void placeByForce(int one) {
        int best = NOBODY;
        double least = weights[one];
        for (int candidate : ORDER) {
            double[] most = {0};
            double limit = least;
            boolean lighter =
                    machine[candidate].owners(
                            intervals[one],
                            owner -> {
                                most[0] =
                                        owner < 0
                                                ? Double.POSITIVE_INFINITY
                                                : Math.max(most[0], weights[owner]);
                                return most[0] < limit;
                            });
            if (lighter) {
                best = candidate;
                least = most[0];
            }
        }
        if (best < 0) {
            spill(one);
            return;
        }
        Set<Integer> owners = new HashSet<>();
        machine[best].owners(
                intervals[one],
                owner -> {
                    owners.add(owner);
                    return true;
                });
        for (int owner : owners.stream().sorted().toList()) {
            machine[best].remove(intervals[owner]);
            given[owner] = NOBODY;
        }
        give(one, best);
        for (int owner : owners.stream().sorted().toList()) {
            if (!placeFree(owner)) {
                spill(owner);
            }
        }
    }

    private void spill(int one) {
        if (weights[one] == Double.POSITIVE_INFINITY) {
            throw new IllegalStateException(
                    body.source().name() + ": no register for " + body.registers().get(one));
        }
        spilled.add(body.registers().get(one));
    }
}
