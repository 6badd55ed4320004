package sonde.probe.dynamic;

import org.jspecify.annotations.Nullable;

/** Objects that are in several places. */
final class PlacedParts {
    private PlacedParts() {}

    /** The place that has all of an operand; null when it is spread over several. */
    static @Nullable Operand one(Operand.Split split) {
        long wanted = split.bits() > 0 ? split.bits() : 8 * split.type().sizeBytes();
        long start = 0;
        for (Operand.Part part : split.parts()) {
            long into = split.bitOffset() - start;
            if (into >= 0 && into + wanted <= part.bits()) {
                return within(part.place(), split, into);
            }
            start += part.bits();
        }
        return null;
    }

    private static @Nullable Operand within(Operand place, Operand.Split split, long into) {
        return switch (place) {
            case Operand.Stored o when split.bits() == 0 ->
                    new Operand.Stored(o.address().plus(into / 8), split.type(), 0, 0, o.isUser());
            case Operand.Stored o ->
                    new Operand.Stored(o.address(), split.type(), into, split.bits(), o.isUser());
            case Operand.Held o ->
                    new Operand.Held(o.token(), split.type(), o.bitOffset() + into, split.bits());
            case Operand.Plain o when into == 0 -> new Operand.Plain(o.value(), split.type());
            case Operand.Plain _, Operand.Split _, Operand.Words _ -> null;
        };
    }
}
