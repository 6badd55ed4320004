/**
 * Models the metadata of a CTF trace in both languages: TSDL (CTF 1.8) and the JSON fragments of
 * CTF 2 become the same classes of fields, events, streams and clocks.
 *
 * {@snippet :
 * var time = FieldClass.Bits.unsigned(64, 8, false);
 * var header = FieldClass.Structure.of(List.of(new FieldClass.Member("timestamp", time)), 1);
 * }
 */
package sonde.recording.ctf.schema;
