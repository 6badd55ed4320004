/**
 * Reads, writes, runs and prints classic BPF, the filters of libpcap and SO_ATTACH_FILTER, with an
 * accumulator A, an index X and 16 memory cells (Documentation/networking/filter.rst). Programs are
 * printed as by {@code tcpdump -d}, and translated to eBPF.
 *
 * {@snippet :
 * // tcpdump -y EN10MB -ddd ip
 * ClassicProgram ip = ClassicProgram.parse("4\n40 0 0 12\n21 0 1 2048\n6 0 0 262144\n6 0 0 0\n");
 * int taken = ip.run(packet, PacketFacts.NONE); // bytes of the packet to keep, 0 to drop it
 * ProgramCode extended = ClassicTranslation.of(ip);
 * }
 */
package sonde.bpf.classic;
