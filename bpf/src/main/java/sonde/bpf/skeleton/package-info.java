/**
 * Generates Java classes for objects, with typed access to their programs, maps and variables.
 *
 * {@snippet :
 * String source =
 *         JavaSkeleton.of(ObjectFile.read(path), List.of(path), "com.example", "Switches");
 * }
 */
package sonde.bpf.skeleton;
