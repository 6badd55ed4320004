package sonde.recording.syscall;

import java.util.BitSet;

/**
 * How calls are written.
 *
 * @param limit bytes of a string that are shown (-s)
 * @param hex strings in hexadecimal: 0 never, 1 when they have bytes that are no ASCII (-x), 2 all
 *     (-xx), 3 escapes alone
 * @param column of the equals sign (-a)
 * @param constants how constants are written (-X)
 * @param argumentNames whether arguments have their names before them (-N)
 * @param calls what is special about some of them
 * @param descriptors what stands behind a descriptor (-y)
 * @param dumpRead descriptors whose data are dumped when read (-e read=)
 * @param dumpWrite the same of data that are written
 */
public record CallStyle(
        int limit,
        int hex,
        int column,
        ConstantForm constants,
        boolean argumentNames,
        CallForms calls,
        DescriptorForm descriptors,
        BitSet dumpRead,
        BitSet dumpWrite) {
    /** strace's. */
    public static final CallStyle DEFAULT =
            new CallStyle(
                    32,
                    0,
                    40,
                    ConstantForm.ABBREV,
                    false,
                    new CallForms(new BitSet(), new BitSet(), new BitSet()),
                    DescriptorForm.NUMBER,
                    new BitSet(),
                    new BitSet());

    /**
     * Calls, by number, that are written in another way.
     *
     * @param verbose with all fields of structs (-v, -e abbrev)
     * @param pointers without what addresses point to (-e verbose)
     * @param raw as numbers (-e raw)
     */
    public record CallForms(BitSet verbose, BitSet pointers, BitSet raw) {}

    /** How constants are written. */
    public enum ConstantForm {
        RAW,
        ABBREV,
        VERBOSE,
    }

    /**
     * What stands behind a descriptor.
     *
     * @param path path, or kind and inode
     * @param socket protocol and addresses of a socket
     * @param device numbers of a device
     * @param process process of a pidfd
     * @param names whether processes have their names (-Y)
     */
    public record DescriptorForm(
            boolean path, boolean socket, boolean device, boolean process, boolean names) {
        /** Nothing. */
        public static final DescriptorForm NUMBER =
                new DescriptorForm(false, false, false, false, false);

        /** Whether the file behind a descriptor must be known. */
        public boolean needsFile() {
            return path || socket || device || process;
        }
    }

    /** Whether data of that many bytes may be dumped. */
    public boolean dumps() {
        return !dumpRead.isEmpty() || !dumpWrite.isEmpty();
    }
}
