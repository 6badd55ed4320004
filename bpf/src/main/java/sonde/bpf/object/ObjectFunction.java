package sonde.bpf.object;

import java.util.List;
import java.util.Map;
import sonde.binary.btf.BtfExtension;
import sonde.binary.btf.BtfExtension.LineEntry;

/**
 * A function of an object: an entry that is loaded, or one that entries call.
 *
 * @param section name of its section
 * @param start slot of its first instruction in the section
 * @param words its instructions as the compiler wrote them
 * @param references by slot from its start
 * @param types struct bpf_func_info, its start as the offset's origin
 * @param lines as types
 * @param core as types
 */
record ObjectFunction(
        String name,
        String section,
        int start,
        boolean isEntry,
        long[] words,
        Map<Integer, FunctionReference> references,
        List<BtfExtension.Function> types,
        List<LineEntry> lines,
        List<BtfExtension.CoreRelocation> core) {

    /** What an instruction refers to beyond its function. */
    sealed interface FunctionReference {
        /** A 64-bit constant becomes a map. */
        record MapOf(ObjectMap map) implements FunctionReference {}

        /** A 64-bit constant becomes the address of a variable. */
        record DataOf(GlobalSection data, int offset) implements FunctionReference {}

        /** A 64-bit constant becomes the address or value of something of the kernel. */
        record Outside(ExternSymbol target) implements FunctionReference {}

        /** A call of a function of the kernel. */
        record CallOutside(ExternSymbol target) implements FunctionReference {}

        /** A call of another function of the object. */
        record CallOf(FunctionStart target) implements FunctionReference {}

        /** A 64-bit constant becomes the address of another function, for callbacks. */
        record FunctionPointer(FunctionStart target) implements FunctionReference {}
    }

    /**
     * The start of a function.
     *
     * @param slot in the section
     */
    record FunctionStart(String section, int slot) {}
}
