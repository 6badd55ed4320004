package sonde.recording.ctf;

import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import sonde.recording.ctf.schema.FieldClass.WideInteger;

/** Integers of more than 64 bits as babeltrace2 would write shorter ones. */
final class WideText {
    private static final int STEP_BITS = 32;

    private WideText() {}

    /** The number at a bit of a file, all of it inside. */
    static String of(MemorySegment memory, long at, WideInteger type) {
        BigInteger value = value(memory, at, type);
        return switch (type.base()) {
            case 2 -> "0b" + unsigned(value, type).toString(2);
            case 8 -> "0" + unsigned(value, type).toString(8);
            case 16 -> "0x" + unsigned(value, type).toString(16).toUpperCase(java.util.Locale.ROOT);
            default -> value.toString();
        };
    }

    private static BigInteger unsigned(BigInteger value, WideInteger type) {
        return value.signum() < 0 ? value.add(BigInteger.ONE.shiftLeft(type.bits())) : value;
    }

    private static BigInteger value(MemorySegment memory, long at, WideInteger type) {
        BigInteger value = BigInteger.ZERO;
        for (int done = 0; done < type.bits(); done += STEP_BITS) {
            int count = Math.min(STEP_BITS, type.bits() - done);
            BigInteger part =
                    BigInteger.valueOf(BitReader.read(memory, at + done, count, type.bigEndian()));
            value =
                    type.bigEndian()
                            ? value.shiftLeft(count).or(part)
                            : value.or(part.shiftLeft(done));
        }
        if (type.reversed()) {
            value = reversed(value, type.bits());
        }
        boolean negative = type.signed() && value.testBit(type.bits() - 1);
        return negative ? value.subtract(BigInteger.ONE.shiftLeft(type.bits())) : value;
    }

    private static BigInteger reversed(BigInteger value, int bits) {
        BigInteger turned = BigInteger.ZERO;
        for (int i = 0; i < bits; i++) {
            turned = value.testBit(i) ? turned.setBit(bits - 1 - i) : turned;
        }
        return turned;
    }
}
