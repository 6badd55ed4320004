/**
 * Tests on other kernels: QEMU guests that see this machine's files.
 *
 * {@snippet :
 * Guest.lacks().ifPresent(reason -> Assumptions.abort(reason));
 * GuestTests.Outcome outcome =
 *         GuestTests.run(
 *                 GuestKernel.of("6.1"),
 *                 SystemAction.getProperty("java.class.path"),
 *                 Map.of(),
 *                 List.of("sonde.conformance.guest.FtraceInGuestTest"),
 *                 120);
 * }
 *
 * <p>Guests need root, {@code qemu-system-x86}, {@code busybox-static} and Debian's package
 * archive; kernels are kept in {@code $XDG_CACHE_HOME/sonde/guest/}.
 */
package sonde.testkit.guest;
