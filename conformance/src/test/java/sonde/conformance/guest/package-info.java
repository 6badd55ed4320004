/**
 * Tests on other kernels. {@code GuestTest} boots each of them and runs the classes that {@code
 * in-guest.txt} names; those are tagged {@code inguest} when they only make sense there.
 */
package sonde.conformance.guest;
