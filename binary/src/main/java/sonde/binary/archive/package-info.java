/**
 * What files come wrapped in: gzip, zstd and xz streams, tar and zip archives, one in another. The
 * wrapper is recognised by content; what comes out is read like a file of its own:
 *
 * {@snippet :
 * try (Unwrapped files = Unwrapped.of(Input.open(path), Limits.DEFAULT)) {
 *     for (Input file : files.inputs()) { … }
 * }
 * }
 */
@NullMarked
package sonde.binary.archive;

import org.jspecify.annotations.NullMarked;
