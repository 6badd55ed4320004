/**
 * CTF traces of other makers, read by us and by babeltrace2.
 *
 * {@snippet :
 * SONDE_CORPUS=…/corpus mvn -pl conformance -am test -Dtest=CtfConformanceTest
 * }
 */
package sonde.conformance.ctf;
