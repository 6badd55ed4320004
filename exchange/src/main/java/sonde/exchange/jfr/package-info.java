/**
 * Reads Java Flight Recorder files: chunks of events with metadata and constant pools (OpenJDK
 * src/hotspot/share/jfr/recorder/checkpoint, jdk.jfr.internal.consumer).
 *
 * {@snippet :
 * Recording recording = JfrReader.open(input);
 * }
 */
package sonde.exchange.jfr;
