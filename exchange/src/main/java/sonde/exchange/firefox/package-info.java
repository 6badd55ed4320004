/**
 * Profiles of the Firefox Profiler, processed (firefox-devtools/profiler src/types/profile.ts,
 * docs-developer/CHANGELOG-formats.md).
 *
 * {@snippet :
 * Recording profile = FirefoxReader.open(input);
 * }
 */
package sonde.exchange.firefox;
