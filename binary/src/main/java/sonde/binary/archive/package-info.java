/**
 * Unpacks gzip, zstd and xz streams and tar and zip archives, also nested. A wrapper is recognised
 * by its content; the unpacked content is read like a separate file:
 *
 * {@snippet :
 * try (UnwrappedFiles files = UnwrappedFiles.of(Input.open(path), UnwrapLimits.DEFAULT)) {
 *     for (Input file : files.inputs()) { … }
 * }
 * }
 */
@NullMarked
package sonde.binary.archive;

import org.jspecify.annotations.NullMarked;
