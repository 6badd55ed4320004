/**
 * Probes the BPF features of the running kernel.
 *
 * {@snippet :
 * switch (BpfFeatureProbe.mapType(MapType.RING_BUFFER)) {
 *     case Answer.Yes _ -> useRing();
 *     case Answer.No no -> usePerfBuffer(no.why());
 *     case Answer.Unknown unknown -> tell(unknown.why());
 * }
 * }
 */
package sonde.bpf.feature;
