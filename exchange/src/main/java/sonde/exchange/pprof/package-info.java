/**
 * pprof profiles (google/pprof proto/profile.proto), without their gzip wrapper.
 *
 * {@snippet :
 * Recording profile = PprofReader.open(input);
 * }
 */
package sonde.exchange.pprof;
