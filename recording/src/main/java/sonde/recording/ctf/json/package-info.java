/**
 * The metadata of CTF 2: fragments of JSON, each after a record separator (RFC 7464), by
 * CTF2-SPEC-2.0; the spellings of the release candidates before it are read too.
 *
 * {@snippet :
 * TraceClass trace = FragmentReader.read("\u001e{\"type\":\"preamble\",\"version\":2}\n…");
 * }
 */
package sonde.recording.ctf.json;
