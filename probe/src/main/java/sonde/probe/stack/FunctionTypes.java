package sonde.probe.stack;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.binary.btf.BtfWriter;

/** The types of the unwinder's functions: kernels want them of programs with callbacks. */
final class FunctionTypes {
    private FunctionTypes() {}

    /**
     * Adds the types of functions, all of them static.
     *
     * @param first name of the one at the first slot, with one parameter
     * @param starts slots of {@link UnwindCode}'s subprograms
     * @param slots of the program before them
     * @return an array of struct bpf_func_info
     */
    static byte[] add(BtfWriter types, String first, Map<String, Integer> starts, int slots) {
        int result = types.add(new BtfType.Int("int", 4, IntEncoding.SIGNED, 0, 32));
        int pointer = types.add(new BtfType.Ptr(0));
        int number = types.add(new BtfType.Int("u64", 8, IntEncoding.UNSIGNED, 0, 64));
        ByteBuffer records =
                ByteBuffer.allocate(8 * (starts.size() + 1)).order(ByteOrder.nativeOrder());
        records.putInt(slots).putInt(function(types, first, result, List.of(pointer)));
        starts.forEach((name, slot) -> {
            List<Integer> parameters =
                    switch (name) {
                        case "frame", "python_thread" -> List.of(number, pointer);
                        case "unwind", "maple_step", "returned" -> List.of(pointer, number);
                        default -> List.of(pointer);
                    };
            records.putInt(slots + slot).putInt(function(types, name, result, parameters));
        });
        return records.array();
    }

    private static int function(
            BtfWriter types, String name, int result, List<Integer> parameterTypes) {
        List<BtfType.Param> parameters =
                parameterTypes.stream().map(type -> new BtfType.Param("a" + type, type)).toList();
        int prototype = types.add(new BtfType.FuncProto(result, parameters));
        return types.add(new BtfType.Func(name, BtfType.Linkage.STATIC, prototype));
    }
}
