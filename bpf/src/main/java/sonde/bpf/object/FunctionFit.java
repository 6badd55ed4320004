package sonde.bpf.object;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfExtension;
import sonde.binary.btf.TypesById;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.core.CoreKind;
import sonde.bpf.core.CoreRelocator;
import sonde.bpf.core.CoreRelocator.RelocatedValue;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ObjectFunction.FunctionStart;

/**
 * The instructions of a function as the target kernel's types want them.
 *
 * @param words fitted
 * @param missing by slot: what is not there; the instruction is one that the verifier refuses when
 *     it is reached
 */
record FunctionFit(long[] words, Map<Integer, String> missing) {
    /** A call of a helper that no kernel has; libbpf's number, which people look for. */
    static final int POISON = 195896080;

    private static final int CALL = 0x85;
    private static final int LOAD_WIDE = 0x18;

    static long poison(int helper) {
        return CALL | (long) helper << 32;
    }

    /** Those of all functions that have relocations, by their places. */
    static Map<FunctionStart, FunctionFit> all(
            ObjectFile object, Collection<ObjectFunction> functions, KernelBtfs kernel)
            throws IOException {
        Map<FunctionStart, FunctionFit> fits = new HashMap<>();
        if (functions.stream().allMatch(one -> one.core().isEmpty())) {
            return fits;
        }
        TypesById local = id -> ObjectLoader.type(object.types(), id);
        CoreRelocator relocator = new CoreRelocator(local, hasTypes(kernel) ? kernel : null);
        for (ObjectFunction one : functions) {
            if (!one.core().isEmpty()) {
                FunctionStart place = new FunctionStart(one.section(), one.start());
                fits.put(place, of(one, relocator, object.place()));
            }
        }
        return fits;
    }

    /** A kernel without types is told as missing where something is needed of them. */
    private static boolean hasTypes(KernelBtfs kernel) throws IOException {
        try {
            return kernel.kernel().end() > 1;
        } catch (BpfRefusedException e) {
            return false;
        }
    }

    static FunctionFit of(ObjectFunction function, CoreRelocator relocator, ObjectPosition object)
            throws IOException {
        long[] words = function.words().clone();
        Map<Integer, String> missing = new HashMap<>();
        for (BtfExtension.CoreRelocation one : function.core()) {
            int inSection = one.offset() / 8;
            int slot = inSection - function.start();
            ObjectPosition place =
                    object.section(function.section()).symbol(function.name()).at(inSection);
            CoreKind kind = CoreKind.of(one.kind());
            if (kind == null || one.offset() % 8 != 0) {
                throw new ObjectException(place, "CO-RE relocation of unknown kind " + one.kind());
            }
            try {
                RelocatedValue outcome = relocator.resolve(one.type(), one.access(), kind);
                String problem = outcome.problem();
                if (problem.isEmpty()) {
                    problem = patch(words, slot, outcome, place);
                }
                if (!problem.isEmpty()) {
                    missing.put(slot, outcome.text() + ": " + problem);
                    if ((words[slot] & 0xff) == LOAD_WIDE && slot + 1 < words.length) {
                        words[slot + 1] = poison(POISON);
                    }
                    words[slot] = poison(POISON);
                }
            } catch (MalformedInputException e) {
                throw new ObjectException(place, "CO-RE relocation: " + e.getMessage(), e);
            }
        }
        return new FunctionFit(words, missing);
    }

    /** Puts the answer into the instruction; says why where it cannot. */
    private static String patch(
            long[] words, int slot, RelocatedValue outcome, ObjectPosition place)
            throws ObjectException {
        long word = words[slot];
        int code = (int) word & 0xff;
        switch (code & 7) {
            case 4, 7 -> {
                if ((code & 8) != 0) {
                    throw new ObjectException(place, "CO-RE relocation of a register");
                }
                check(outcome, (int) (word >> 32), (int) outcome.before(), place);
                words[slot] = word & 0xffff_ffffL | outcome.after() << 32;
            }
            case 1, 2, 3 -> {
                check(outcome, (short) (word >> 16), (int) outcome.before(), place);
                if (outcome.after() > Short.MAX_VALUE || outcome.after() < 0) {
                    return "offset %d does not fit 16 bits".formatted(outcome.after());
                }
                words[slot] = word & ~0xffff0000L | outcome.after() << 16;
                return width(words, slot, outcome);
            }
            default -> {
                if (code != LOAD_WIDE || slot + 1 >= words.length) {
                    throw new ObjectException(
                            place, "CO-RE relocation of opcode 0x%02x".formatted(code));
                }
                long value = word >>> 32 | words[slot + 1] & 0xffffffff00000000L;
                if (outcome.isChecked() && value != outcome.before()) {
                    throw mismatch(outcome, value, place);
                }
                words[slot] = word & 0xffff_ffffL | outcome.after() << 32;
                words[slot + 1] =
                        words[slot + 1] & 0xffff_ffffL | outcome.after() & 0xffffffff00000000L;
            }
        }
        return "";
    }

    private static void check(RelocatedValue outcome, int found, int expected, ObjectPosition place)
            throws ObjectException {
        if (outcome.isChecked() && found != expected) {
            throw mismatch(outcome, found, place);
        }
    }

    private static ObjectException mismatch(
            RelocatedValue outcome, long found, ObjectPosition place) {
        return new ObjectException(
                place,
                "%s: the instruction has %d where the object's types say %d"
                        .formatted(outcome.text(), found, outcome.before()));
    }

    /** Size bits of memory instructions: W 0x00, H 0x08, B 0x10, DW 0x18. */
    private static String width(long[] words, int slot, RelocatedValue outcome) {
        if (outcome.widthBefore() == outcome.widthAfter() || outcome.widthBefore() == 0) {
            return "";
        }
        int size =
                switch (outcome.widthAfter()) {
                    case 1 -> 0x10;
                    case 2 -> 0x08;
                    case 4 -> 0x00;
                    case 8 -> 0x18;
                    default -> -1;
                };
        if (size < 0 || !outcome.isAdjustable()) {
            return "it has %d bytes there, not %d, and is not an unsigned number"
                    .formatted(outcome.widthAfter(), outcome.widthBefore());
        }
        words[slot] = words[slot] & ~0x18L | size;
        return "";
    }
}
