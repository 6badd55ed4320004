/**
 * Provides the bytes of files from elsewhere, and the exception by which readers reject them.
 *
 * <p>A reader takes an {@link sonde.binary.Input}, walks it with a {@link sonde.binary.FieldCursor}
 * and throws {@link sonde.binary.MalformedInputException} for what cannot be; nothing else leaves
 * it, whatever the bytes.
 *
 * {@snippet :
 * try (Input input = Input.open(Path.of("trace.dat"))) {
 *     FieldCursor cursor = new FieldCursor("trace.dat", input.segment(), ByteOrder.LITTLE_ENDIAN);
 *     int pageBytes = cursor.s32("page size");
 * }
 * }
 */
package sonde.binary;
