/**
 * Reads Chrome's trace JSON (the "Trace Event Format" document), as an array or an object.
 *
 * {@snippet :
 * Recording trace = ChromeReader.open(input);
 * }
 */
package sonde.exchange.chrome;
