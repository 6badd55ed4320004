/**
 * Reads the USDT markers of programs: their addresses and the locations of their arguments.
 *
 * <pre>{@code
 * try (Input input = Input.open(Path.of("/usr/lib/libfoo.so"))) {
 *     UsdtNotes.read(ElfFile.of(input.segment()))
 *             .forEach((name, places) -> System.out.println(name + ": " + places.size()));
 * }
 * }</pre>
 */
package sonde.bpf.usdt;
