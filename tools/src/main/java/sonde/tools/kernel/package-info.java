/**
 * {@code sonde kernel}: the switches of a running kernel that matter for its diagnosis.
 *
 * {@snippet :
 * Result checked = SetupCheck.of(KernelFiles.HERE).result();
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.kernel;
