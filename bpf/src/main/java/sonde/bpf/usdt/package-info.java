/**
 * Markers that programs were built with (USDT): where they stand, and where their arguments are.
 *
 * <pre>{@code
 * try (Input input = Input.open(Path.of("/usr/lib/libfoo.so"))) {
 *     UsdtNotes.read(ElfFile.of(input.segment()))
 *             .forEach((name, places) -> System.out.println(name + ": " + places.size()));
 * }
 * }</pre>
 */
package sonde.bpf.usdt;
