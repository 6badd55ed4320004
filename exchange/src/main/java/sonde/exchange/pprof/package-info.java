/**
 * Reads pprof profiles (google/pprof proto/profile.proto), after their gzip wrapper is removed.
 *
 * {@snippet :
 * Recording profile = PprofReader.open(input);
 * }
 */
package sonde.exchange.pprof;
