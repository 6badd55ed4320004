package sonde.format.trace;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Predicate;
import sonde.event.Recording;
import sonde.format.Input;
import sonde.format.MalformedInputException;
import sonde.format.chrome.ChromeReader;
import sonde.format.firefox.FirefoxReader;
import sonde.format.heaptrack.HeaptrackReader;
import sonde.format.jfr.JfrReader;
import sonde.format.pcap.PcapReader;
import sonde.format.perfetto.PerfettoReader;
import sonde.format.pprof.PprofReader;
import sonde.format.speedscope.SpeedscopeReader;
import sonde.format.text.DmesgJson;
import sonde.format.valgrind.CallgrindReader;
import sonde.format.valgrind.MassifReader;

/** A format, how it is recognised and read. No file is recognised as two of them. */
public enum TraceFormat {
    /** pcap and pcapng. */
    PCAP("pcap", PcapReader::isPcap, PcapReader::open),
    /** Flight recordings of a JVM. */
    JFR("jfr", JfrReader::isJfr, JfrReader::open),
    /** Perfetto's packets. */
    PERFETTO("perfetto", PerfettoReader::isPerfetto, PerfettoReader::open),
    /** pprof profiles. */
    PPROF("pprof", PprofReader::isPprof, PprofReader::open),
    /** speedscope's own JSON. */
    SPEEDSCOPE("speedscope", SpeedscopeReader::isSpeedscope, SpeedscopeReader::open),
    /** Processed profiles of the Firefox Profiler. */
    FIREFOX("firefox", FirefoxReader::isFirefox, FirefoxReader::open),
    /** Chrome's trace JSON. */
    CHROME("chrome", ChromeReader::isChrome, ChromeReader::open),
    /** callgrind.out and cachegrind.out. */
    CALLGRIND("callgrind", CallgrindReader::isCallgrind, CallgrindReader::open),
    /** massif.out. */
    MASSIF("massif", MassifReader::isMassif, MassifReader::open),
    /** heaptrack's text. */
    HEAPTRACK("heaptrack", HeaptrackReader::isHeaptrack, HeaptrackReader::open),
    /** The kernel's log as JSON. */
    DMESG("dmesg", DmesgJson::isDmesg, DmesgJson::open);

    private final String label;
    private final Predicate<Input> recogniser;
    private final Opener opener;

    @FunctionalInterface
    private interface Opener {
        Recording open(Input input) throws IOException;
    }

    TraceFormat(String label, Predicate<Input> recogniser, Opener opener) {
        this.label = label;
        this.recogniser = recogniser;
        this.opener = opener;
    }

    /** The format of a file, by its content. */
    public static Optional<TraceFormat> of(Input input) {
        for (TraceFormat format : values()) {
            if (format.matches(input)) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
    }

    /** How users call it. */
    public String label() {
        return label;
    }

    /** Whether the bytes begin as its do. */
    public boolean matches(Input input) {
        return recogniser.test(input);
    }

    /**
     * Reads a file; the input is closed with the recording or before.
     *
     * @throws MalformedInputException when it is not of this format
     */
    public Recording open(Input input) throws IOException {
        Recording opened = opener.open(input);
        return new Owned(opened, input);
    }
}
