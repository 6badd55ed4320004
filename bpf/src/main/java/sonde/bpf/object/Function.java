package sonde.bpf.object;

import java.util.List;
import java.util.Map;
import sonde.binary.btf.BtfExtension;

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
record Function(
        String name,
        String section,
        int start,
        boolean isEntry,
        long[] words,
        Map<Integer, Reference> references,
        List<BtfExtension.Function> types,
        List<BtfExtension.Line> lines,
        List<BtfExtension.CoreRelocation> core) {

    /** What an instruction refers to beyond its function. */
    sealed interface Reference {
        /** A 64-bit constant becomes a map. */
        record MapOf(ObjectMap map) implements Reference {}

        /** A 64-bit constant becomes the address of a variable. */
        record DataOf(GlobalSection data, int offset) implements Reference {}

        /** A 64-bit constant becomes the address or value of something of the kernel. */
        record Outside(Extern target) implements Reference {}

        /** A call of a function of the kernel. */
        record CallOutside(Extern target) implements Reference {}

        /** A call of another function of the object. */
        record CallOf(Place target) implements Reference {}

        /** A 64-bit constant becomes the address of another function, for callbacks. */
        record AddressOf(Place target) implements Reference {}
    }

    /**
     * The start of a function.
     *
     * @param slot in the section
     */
    record Place(String section, int slot) {}
}
