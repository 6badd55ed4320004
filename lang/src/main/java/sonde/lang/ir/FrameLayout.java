package sonde.lang.ir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import sonde.lang.ir.SlotSharing.SharedSlot;

/**
 * Where the objects of a function lie below R10. Slots of registers are shared by those of one kind
 * that are never alive together; other objects as {@link SlotSharing} finds.
 */
final class FrameLayout {
    private final int[] offsets;
    private final int sizeBytes;

    private FrameLayout(int[] offsets, int sizeBytes) {
        this.offsets = offsets;
        this.sizeBytes = sizeBytes;
    }

    /** Bytes taken, a multiple of 8. */
    int sizeBytes() {
        return sizeBytes;
    }

    /** Offset of an object from R10. */
    int offset(StackObject object) {
        return offsets[object.index()];
    }

    /** Places the objects that are left. */
    static FrameLayout of(WorkingFunction body, SlotSharing sharing) {
        int[] offsets = new int[body.objects().size()];
        int depth = slots(body, offsets);
        depth = objects(body, sharing, offsets, depth);
        return new FrameLayout(offsets, depth + 7 & ~7);
    }

    private static int slots(WorkingFunction body, int[] offsets) {
        if (body.slots().isEmpty()) {
            return 0;
        }
        LiveInterval[] lives = LiveInterval.of(body, LivenessSubjects.slots(body, body.slots()));
        List<RegisterOccupancy> places = new ArrayList<>();
        List<VirtualRegister.Kind> kinds = new ArrayList<>();
        List<StackObject> order = new ArrayList<>(body.slots().keySet());
        order.removeIf(slot -> lives[slot.index()].isEmpty());
        order.sort(Comparator.comparingInt(slot -> lives[slot.index()].start()));
        for (StackObject slot : order) {
            VirtualRegister.Kind kind = body.slots().get(slot);
            LiveInterval life = lives[slot.index()];
            int at = 0;
            while (at < places.size() && (kinds.get(at) != kind || !places.get(at).isFree(life))) {
                at++;
            }
            if (at == places.size()) {
                places.add(new RegisterOccupancy());
                kinds.add(kind == null ? VirtualRegister.Kind.SCALAR : kind);
            }
            places.get(at).add(life, slot.index());
            offsets[slot.index()] = -8 * (at + 1);
        }
        return 8 * places.size();
    }

    /** The widest first, so that nothing lies between. */
    private static int objects(
            WorkingFunction body, SlotSharing sharing, int[] offsets, int above) {
        boolean[] seen = new boolean[offsets.length];
        for (BasicBlock block : body.layout()) {
            block.steps()
                    .forEach(
                            step -> StackObjects.of(step.operation(), o -> seen[o.index()] = true));
        }
        List<StackObject> order =
                body.objects().stream()
                        .filter(object -> seen[object.index()])
                        .filter(object -> !body.slots().containsKey(object))
                        .sorted(
                                Comparator.comparingInt(StackObject::align)
                                        .thenComparingInt(StackObject::sizeBytes)
                                        .reversed()
                                        .thenComparingInt(StackObject::index))
                        .toList();
        int depth = above;
        for (SharedSlot group : sharing.groups(order)) {
            depth = depth + group.sizeBytes() + group.align() - 1 & -group.align();
            for (StackObject object : group.objects()) {
                offsets[object.index()] = -depth;
            }
        }
        return depth;
    }

    @Override
    public String toString() {
        return sizeBytes + " bytes " + Arrays.toString(offsets);
    }
}
