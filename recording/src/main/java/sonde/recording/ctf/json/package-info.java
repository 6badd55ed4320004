/**
 * Reads the metadata of CTF 2: JSON fragments, each after a record separator (RFC 7464), by
 * CTF2-SPEC-2.0. It also accepts the spellings of the release candidates.
 *
 * {@snippet :
 * TraceClass trace = FragmentReader.read("\u001e{\"type\":\"preamble\",\"version\":2}\n…");
 * }
 */
package sonde.recording.ctf.json;
