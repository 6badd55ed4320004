package sonde.bpf.insn;

/**
 * How a listing names what instructions refer to by number. The names here are what {@link
 * Assembler} reads back; who knows better ones (a program's maps, the kernel's BTF) overrides them.
 */
public interface ListingSymbols {
    /** Numbers as they stand in the instruction, maps as {@code map[fd:5]}. */
    ListingSymbols NUMBERS = new ListingSymbols() {};

    /** Maps as {@code map[id:5]}, as in programs that the kernel gave back. */
    ListingSymbols IDS =
            new ListingSymbols() {
                @Override
                public String map(int number) {
                    return "map[id:" + Integer.toUnsignedString(number) + "]";
                }
            };

    /** A map by its descriptor or id. */
    default String map(int number) {
        return "map[fd:" + Integer.toUnsignedString(number) + "]";
    }

    /** A helper function: name without number. */
    default String helper(int number) {
        return HelperFunctionId.name(number);
    }

    /** A function of the kernel: name without BTF id; module as in {@code CallKernel}. */
    default String kernelFunction(int btfId, int module) {
        return module == 0 ? "kfunc" : "kfunc[" + module + "]";
    }
}
