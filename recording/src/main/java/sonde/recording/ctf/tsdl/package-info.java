/**
 * Parses the Trace Stream Description Language, the metadata of CTF 1.8, by the grammar of CTF
 * 1.8.3.
 *
 * {@snippet :
 * TraceClass trace = TsdlReader.read("trace { major = 1; minor = 8; byte_order = le; };");
 * }
 *
 * <p>Bounds: 64 blocks, types or arrays in each other, 8 M tokens; integers of 1 to 4096 bits.
 */
package sonde.recording.ctf.tsdl;
