package sonde.probe.dynamic;

import org.jspecify.annotations.Nullable;
import sonde.probe.dynamic.ProbeOperand.CalculatedOperand;
import sonde.probe.dynamic.ProbeOperand.HeldOperand;
import sonde.probe.dynamic.ProbeOperand.KernelOperand;
import sonde.probe.dynamic.ProbeOperand.OperandPart;
import sonde.probe.dynamic.ProbeOperand.SplitOperand;
import sonde.probe.dynamic.ProbeOperand.StoredOperand;

/** Objects that are in several places. */
final class PlacedParts {
    private PlacedParts() {}

    /** The place that has all of an operand; null when it is spread over several. */
    static @Nullable ProbeOperand one(SplitOperand split) {
        long wanted = split.bits() > 0 ? split.bits() : 8 * split.type().sizeBytes();
        long start = 0;
        for (OperandPart part : split.parts()) {
            long into = split.bitOffset() - start;
            if (into >= 0 && into + wanted <= part.bits()) {
                return within(part.place(), split, into);
            }
            start += part.bits();
        }
        return null;
    }

    private static @Nullable ProbeOperand within(
            ProbeOperand place, SplitOperand split, long into) {
        return switch (place) {
            case StoredOperand o when split.bits() == 0 ->
                    new StoredOperand(o.address().plus(into / 8), split.type(), 0, 0, o.isUser());
            case StoredOperand o ->
                    new StoredOperand(o.address(), split.type(), into, split.bits(), o.isUser());
            case HeldOperand o ->
                    new HeldOperand(o.token(), split.type(), o.bitOffset() + into, split.bits());
            case CalculatedOperand o when into == 0 ->
                    new CalculatedOperand(o.value(), split.type());
            case CalculatedOperand _, SplitOperand _, KernelOperand _ -> null;
        };
    }
}
