package sonde.binary.unwind;

import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.SectionCursor;

/**
 * A common information entry (DWARF 5, 6.4.1; LSB Core 5.0, 10.6.1.1).
 *
 * @param codeAlign factor of advances
 * @param dataAlign factor of offsets
 * @param returnColumn of the return address
 * @param pointers DW_EH_PE_* of addresses in its FDEs
 * @param isAugmented whether its FDEs have a length of augmentation data
 * @param isSignalFrame whether its functions are trampolines of signals
 * @param segmentBytes of the selector before addresses in its FDEs, nearly always 0
 * @param addressBytes of addresses that are not encoded
 * @param from where its instructions begin in the section
 * @param to where they end
 */
record Cie(
        long codeAlign,
        long dataAlign,
        int returnColumn,
        int pointers,
        boolean isAugmented,
        boolean isSignalFrame,
        int segmentBytes,
        int addressBytes,
        long from,
        long to) {

    private static final int TEXT_LIMIT = 32;

    /** Reads what stands behind length and id. */
    static Cie read(SectionCursor in, PointerEncoding encoding) throws MalformedInputException {
        int version = in.u8();
        if (version != 1 && version != 3 && version != 4) {
            throw in.malformed("CIE of version " + version);
        }
        String augmentation = text(in);
        if (augmentation.startsWith("eh")) {
            in.unsigned(encoding.wordBytes()); // gcc 2.95: a pointer to a table
        }
        int addressBytes = encoding.wordBytes();
        int segmentBytes = 0;
        if (version == 4) {
            addressBytes = in.u8();
            segmentBytes = in.u8();
            if (addressBytes != 4 && addressBytes != 8 || segmentBytes > 8) {
                throw in.malformed("addresses of " + addressBytes + " bytes");
            }
        }
        long codeAlign = in.uleb();
        long dataAlign = in.sleb();
        int returnColumn = version == 1 ? in.u8() : in.register();
        if (returnColumn < 0) {
            throw in.malformed("no such column of return addresses");
        }
        int pointers = PointerEncoding.ABSOLUTE;
        boolean signal = false;
        boolean augmented = augmentation.startsWith("z");
        if (augmented) {
            long length = in.uleb();
            long end = in.position() + length;
            if (length < 0 || end > in.end()) {
                throw in.malformed("augmentation of " + length + " bytes");
            }
            int known = 1;
            boolean goesOn = true;
            for (; goesOn && known < augmentation.length(); known++) {
                switch (augmentation.charAt(known)) {
                    case 'R' -> pointers = in.u8();
                    case 'L' -> in.u8();
                    case 'P' -> encoding.skip(in, in.u8());
                    case 'S' -> signal = true;
                    case 'B', 'G' -> {} // keys and tags of AArch64 add no data
                    default -> goesOn = false; // what follows is skipped by its length
                }
            }
            in.skip(end - in.position());
        } else if (!augmentation.isEmpty() && !augmentation.startsWith("eh")) {
            throw in.malformed("augmentation " + augmentation);
        }
        return new Cie(
                codeAlign,
                dataAlign,
                returnColumn,
                pointers,
                augmented,
                signal,
                segmentBytes,
                addressBytes,
                in.position(),
                in.end());
    }

    private static String text(SectionCursor in) throws MalformedInputException {
        StringBuilder text = new StringBuilder();
        for (int one = in.u8(); one != 0; one = in.u8()) {
            if (text.length() == TEXT_LIMIT) {
                throw in.malformed("augmentation without an end");
            }
            text.append((char) one);
        }
        return text.toString();
    }
}
