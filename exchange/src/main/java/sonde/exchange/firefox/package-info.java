/**
 * Reads processed profiles of the Firefox Profiler (firefox-devtools/profiler src/types/profile.ts,
 * docs-developer/CHANGELOG-formats.md).
 *
 * {@snippet :
 * Recording profile = FirefoxReader.open(input);
 * }
 */
package sonde.exchange.firefox;
