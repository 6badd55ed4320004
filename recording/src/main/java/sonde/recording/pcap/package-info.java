/**
 * Captured packets: pcap and pcapng (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng). A packet is
 * an event whose fields are what its headers say.
 *
 * {@snippet :
 * if (PcapReader.isPcap(input)) {
 *     Recording packets = PcapReader.open(input);
 * }
 * }
 */
package sonde.recording.pcap;
