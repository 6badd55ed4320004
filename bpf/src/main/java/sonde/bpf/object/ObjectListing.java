package sonde.bpf.object;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.bpf.object.ObjectFunction.FunctionReference;
import sonde.bpf.object.ObjectFunction.FunctionReference.FunctionPointer;
import sonde.bpf.object.ObjectFunction.FunctionStart;

/**
 * A function of an object as its compiler wrote it, for reading.
 *
 * @param section it lies in
 * @param start slot of its first instruction in the section
 * @param words its instructions
 * @param references what the loader will put into an instruction, by slot from the start: {@code
 *     "map counts"}, {@code ".bss+8"}, {@code "call helper"}
 */
public record ObjectListing(
        String section, String name, int start, long[] words, Map<Integer, String> references) {
    /** The functions of an object in the order of the file. */
    public static List<ObjectListing> of(ObjectFile object) {
        List<ObjectListing> all = new ArrayList<>();
        for (ObjectFunction one : object.functions().values()) {
            Map<Integer, String> texts = new TreeMap<>();
            one.references().forEach((slot, reference) -> texts.put(slot, text(object, reference)));
            all.add(
                    new ObjectListing(
                            one.section(), one.name(), one.start(), one.words().clone(), texts));
        }
        return all;
    }

    private static String text(ObjectFile object, FunctionReference reference) {
        return switch (reference) {
            case FunctionReference.MapOf map -> "map " + map.map().name();
            case FunctionReference.DataOf data -> data.data().section() + "+" + data.offset();
            case FunctionReference.Outside outside -> outside.target().name();
            case FunctionReference.CallOutside call -> "call " + call.target().name();
            case FunctionReference.CallOf call -> "call " + name(object, call.target());
            case FunctionPointer address -> name(object, address.target());
        };
    }

    private static String name(ObjectFile object, FunctionStart place) {
        ObjectFunction target = object.functions().get(place);
        return target == null ? place.section() + " at " + place.slot() : target.name();
    }
}
