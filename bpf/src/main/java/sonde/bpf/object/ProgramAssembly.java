package sonde.bpf.object;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.btf.BtfExtension.LineEntry;
import sonde.bpf.VerifierException;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ObjectFunction.FunctionReference;
import sonde.bpf.object.ObjectFunction.FunctionReference.FunctionPointer;
import sonde.bpf.object.ObjectFunction.FunctionStart;

/**
 * A program with all functions that it calls behind it, and what its instructions refer to by slot.
 * The references to maps and kernel are still open.
 */
final class ProgramAssembly {
    /** BPF_COMPLEXITY_LIMIT_INSNS: more the verifier would not look at. */
    private static final int MOST_SLOTS = 1_000_000;

    /** Source register of a 64-bit constant that is a function's address. */
    private static final long PSEUDO_FUNCTION = 4;

    private static final int FUNCTION_RECORD_BYTES = 8;
    private static final int LINE_RECORD_BYTES = 16;

    /** How the log names a call that stands for something missing. */
    private static final Pattern POISONED =
            Pattern.compile("(\\d{1,7}): \\(85\\) call unknown#(\\d{9,10})");

    final long[] words;
    final TreeMap<Integer, FunctionReference> references = new TreeMap<>();
    final TreeMap<Integer, PoisonedInstruction> missing = new TreeMap<>();
    private final LinkedHashMap<FunctionStart, Integer> starts;
    private final ObjectFile object;
    private final Map<FunctionStart, FunctionFit> fits;

    /**
     * Where an instruction that must not be reached comes from.
     *
     * @param problem why it must not
     */
    record PoisonedInstruction(ObjectPosition place, String problem) {}

    private ProgramAssembly(
            ObjectFile object,
            Map<FunctionStart, FunctionFit> fits,
            LinkedHashMap<FunctionStart, Integer> starts,
            int slots) {
        this.object = object;
        this.fits = fits;
        this.starts = starts;
        words = new long[slots];
    }

    private static FunctionStart place(ObjectFunction function) {
        return new FunctionStart(function.section(), function.start());
    }

    /** The functions that a program is made of, itself first. */
    static List<ObjectFunction> reachable(ObjectFile object, ObjectFunction entry)
            throws ObjectException {
        List<ObjectFunction> roots = new ArrayList<>(List.of(entry));
        roots.addAll(object.exceptionCallback(entry));
        return reachable(object, roots);
    }

    /** Some functions, and all that they call. */
    static List<ObjectFunction> reachable(ObjectFile object, List<ObjectFunction> roots)
            throws ObjectException {
        LinkedHashMap<FunctionStart, ObjectFunction> all = new LinkedHashMap<>();
        List<ObjectFunction> open = new ArrayList<>(roots);
        long slots = 0;
        for (int i = 0; i < open.size(); i++) {
            ObjectFunction function = open.get(i);
            if (all.putIfAbsent(place(function), function) != null) {
                continue;
            }
            slots += function.words().length;
            ObjectPosition here =
                    object.place().section(function.section()).symbol(function.name());
            if (slots > MOST_SLOTS) {
                ObjectFunction first = roots.getFirst();
                throw new ObjectException(
                        object.place().section(first.section()).symbol(first.name()),
                        "more than " + MOST_SLOTS + " instructions with the functions it calls");
            }
            for (Map.Entry<Integer, FunctionReference> one :
                    new TreeMap<>(function.references()).entrySet()) {
                int slot = function.start() + one.getKey();
                switch (one.getValue()) {
                    case FunctionReference.CallOf call ->
                            open.add(object.function(call.target(), here.at(slot)));
                    case FunctionPointer address ->
                            open.add(object.function(address.target(), here.at(slot)));
                    case FunctionReference _ -> {}
                }
            }
        }
        return new ArrayList<>(all.values());
    }

    /**
     * Puts a program together.
     *
     * @param fits of all functions that it can reach
     */
    static ProgramAssembly of(
            ObjectFile object, ObjectFunction entry, Map<FunctionStart, FunctionFit> fits)
            throws IOException {
        return of(object, new long[0], reachable(object, entry), fits);
    }

    /**
     * Puts functions behind a program that is not the object's.
     *
     * @param before its words
     * @param functions with all that they call
     */
    static ProgramAssembly of(
            ObjectFile object,
            long[] before,
            List<ObjectFunction> functions,
            Map<FunctionStart, FunctionFit> fits) {
        LinkedHashMap<FunctionStart, Integer> starts = new LinkedHashMap<>();
        int slots = before.length;
        for (ObjectFunction function : functions) {
            starts.put(place(function), slots);
            slots += function.words().length;
        }
        ProgramAssembly assembly = new ProgramAssembly(object, fits, starts, slots);
        System.arraycopy(before, 0, assembly.words, 0, before.length);
        for (ObjectFunction function : functions) {
            assembly.add(function);
        }
        return assembly;
    }

    /** Makes an instruction of the program before a call of a function. */
    void call(int slot, ObjectFunction function) {
        immediate(slot, start(place(function)) - slot - 1);
    }

    private int start(FunctionStart place) {
        Integer start = starts.get(place);
        if (start == null) {
            throw new IllegalStateException(place + " is not part of the program");
        }
        return start;
    }

    private void add(ObjectFunction function) {
        FunctionStart place = place(function);
        int start = start(place);
        FunctionFit fit = fits.get(place);
        long[] own = fit == null ? function.words() : fit.words();
        System.arraycopy(own, 0, words, start, own.length);
        ObjectPosition here = object.place().section(function.section()).symbol(function.name());
        if (fit != null) {
            fit.missing()
                    .forEach((slot, why) ->
                            missing.put(
                                    start + slot,
                                    new PoisonedInstruction(
                                            here.at(function.start() + slot), why)));
        }
        function.references()
                .forEach((slot, reference) -> {
                    int at = start + slot;
                    switch (reference) {
                        case FunctionReference.CallOf call ->
                                immediate(at, start(call.target()) - at - 1);
                        case FunctionPointer address -> {
                            words[at] = words[at] & 0xffff_0fffL | PSEUDO_FUNCTION << 12;
                            immediate(at, start(address.target()) - at - 1);
                            words[at + 1] = 0;
                        }
                        case FunctionReference other -> references.put(at, other);
                    }
                });
    }

    /** Sets the immediate of an instruction. */
    void immediate(int slot, int value) {
        words[slot] = words[slot] & 0xffff_ffffL | (long) value << 32;
    }

    /** Where a slot of the program comes from in the object. */
    ObjectPosition origin(int slot) {
        ObjectPosition found = object.place();
        for (Map.Entry<FunctionStart, Integer> one : starts.entrySet()) {
            if (one.getValue() <= slot) {
                ObjectFunction function = object.functions().get(one.getKey());
                if (function != null) {
                    found =
                            object.place()
                                    .section(function.section())
                                    .symbol(function.name())
                                    .at(function.start() + slot - one.getValue());
                }
            }
        }
        return found;
    }

    /** struct bpf_func_info of each function; empty when one has none. */
    byte[] functionRecords() {
        ByteBuffer all = buffer(starts.size() * FUNCTION_RECORD_BYTES);
        for (Map.Entry<FunctionStart, Integer> one : starts.entrySet()) {
            ObjectFunction function = object.functions().get(one.getKey());
            if (function == null
                    || function.types().isEmpty()
                    || function.types().getFirst().offset() != 8 * function.start()) {
                return new byte[0];
            }
            all.putInt(one.getValue()).putInt(function.types().getFirst().type());
        }
        return all.array();
    }

    /** struct bpf_line_info; empty when a function does not begin with a line. */
    byte[] lineRecords(ObjectBtf types) {
        int count = 0;
        for (FunctionStart place : starts.keySet()) {
            ObjectFunction function = object.functions().get(place);
            if (function == null
                    || function.lines().isEmpty()
                    || function.lines().getFirst().offset() != 8 * function.start()) {
                return new byte[0];
            }
            count += function.lines().size();
        }
        ByteBuffer all = buffer(count * LINE_RECORD_BYTES);
        for (Map.Entry<FunctionStart, Integer> one : starts.entrySet()) {
            ObjectFunction function = object.functions().get(one.getKey());
            if (function != null) {
                lines(function, one.getValue() - function.start(), types, all);
            }
        }
        byte[] bytes = new byte[all.position()];
        all.get(0, bytes);
        return bytes;
    }

    /** The kernel wants them rising. */
    private static void lines(ObjectFunction function, int shift, ObjectBtf types, ByteBuffer all) {
        int last = -1;
        for (LineEntry line : function.lines()) {
            int slot = line.offset() / 8 + shift;
            if (slot > last && line.offset() % 8 == 0) {
                all.putInt(slot)
                        .putInt(types.text(line.file()))
                        .putInt(types.text(line.text()))
                        .putInt(line.line() << 10 | line.column() & 0x3ff);
                last = slot;
            }
        }
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    }

    /** A refusal of an instruction that stands for something missing is told as that. */
    IOException reached(VerifierException failure) {
        if (missing.isEmpty()) {
            return failure;
        }
        PoisonedInstruction origin = null;
        Matcher matcher = POISONED.matcher(failure.log());
        while (matcher.find()) {
            PoisonedInstruction one = missing.get(Integer.parseInt(matcher.group(1)));
            origin = one == null ? origin : one;
        }
        return origin == null
                ? failure
                : new ObjectException(origin.place(), origin.problem(), failure);
    }
}
