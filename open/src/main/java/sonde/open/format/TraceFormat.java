package sonde.open.format;

import java.io.IOException;
import java.util.Optional;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Recording;
import sonde.exchange.chrome.ChromeReader;
import sonde.exchange.firefox.FirefoxReader;
import sonde.exchange.heaptrack.HeaptrackReader;
import sonde.exchange.jfr.JfrReader;
import sonde.exchange.perfetto.PerfettoReader;
import sonde.exchange.pprof.PprofReader;
import sonde.exchange.speedscope.SpeedscopeReader;
import sonde.exchange.valgrind.CallgrindReader;
import sonde.exchange.valgrind.MassifReader;
import sonde.recording.pcap.PcapReader;
import sonde.recording.perfdata.PerfDataReader;
import sonde.recording.text.DmesgJson;
import sonde.recording.text.TextFormat;
import sonde.recording.text.TextRecording;
import sonde.recording.tracedat.TraceDatReader;

/**
 * A format, how it is recognised and read. No file is recognised as two of them. Its readers are
 * named in switches: 28 method references would have to be linked before the first file is opened.
 */
public enum TraceFormat {
    /** trace-cmd's trace.dat. */
    TRACEDAT("trace.dat"),
    /** perf's perf.data. */
    PERFDATA("perf.data"),
    /** pcap and pcapng. */
    PCAP("pcap"),
    /** Flight recordings of a JVM. */
    JFR("jfr"),
    /** Perfetto's packets. */
    PERFETTO("perfetto"),
    /** pprof profiles. */
    PPROF("pprof"),
    /** speedscope's own JSON. */
    SPEEDSCOPE("speedscope"),
    /** Processed profiles of the Firefox Profiler. */
    FIREFOX("firefox"),
    /** Chrome's trace JSON. */
    CHROME("chrome"),
    /** callgrind.out and cachegrind.out. */
    CALLGRIND("callgrind"),
    /** massif.out. */
    MASSIF("massif"),
    /** heaptrack's text. */
    HEAPTRACK("heaptrack"),
    /** The kernel's log as JSON. */
    DMESG("dmesg"),
    /** Texts that tools print; the last to be tried. */
    TEXT("text");

    private final String label;

    TraceFormat(String label) {
        this.label = label;
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

    /**
     * Reads a file of whatever format; the input is closed with the recording or before.
     *
     * @throws MalformedInputException when it is of none, or damaged
     */
    public static Recording read(Input input) throws IOException {
        Optional<TraceFormat> known = of(input);
        String refusal = "";
        if (known.isEmpty() || known.get() == TEXT) {
            refusal = OtherFormats.refusal(input);
        }
        if (refusal.isEmpty() && known.isEmpty()) {
            refusal = TextFormat.refusal(input);
        }
        if (!refusal.isEmpty()) {
            throw MalformedInputException.refusal(refusal);
        }
        return known.orElse(PERFDATA).open(input);
    }

    /** How users call it. */
    public String label() {
        return label;
    }

    /** Whether the bytes begin as its do. */
    public boolean matches(Input input) {
        return switch (this) {
            case TRACEDAT -> TraceDatReader.isTraceDat(input);
            case PERFDATA -> PerfDataReader.isPerfData(input);
            case PCAP -> PcapReader.isPcap(input);
            case JFR -> JfrReader.isJfr(input);
            case PERFETTO -> PerfettoReader.isPerfetto(input);
            case PPROF -> PprofReader.isPprof(input);
            case SPEEDSCOPE -> SpeedscopeReader.isSpeedscope(input);
            case FIREFOX -> FirefoxReader.isFirefox(input);
            case CHROME -> ChromeReader.isChrome(input);
            case CALLGRIND -> CallgrindReader.isCallgrind(input);
            case MASSIF -> MassifReader.isMassif(input);
            case HEAPTRACK -> HeaptrackReader.isHeaptrack(input);
            case DMESG -> DmesgJson.isDmesg(input);
            case TEXT -> TextFormat.of(input) != null;
        };
    }

    /**
     * Reads a file; the input is closed with the recording or before.
     *
     * @throws MalformedInputException when it is not of this format
     */
    public Recording open(Input input) throws IOException {
        return new OwnedRecording(opened(input), input);
    }

    private Recording opened(Input input) throws IOException {
        return switch (this) {
            case TRACEDAT -> TraceDatReader.open(input);
            case PERFDATA -> PerfDataReader.open(input);
            case PCAP -> PcapReader.open(input);
            case JFR -> JfrReader.open(input);
            case PERFETTO -> PerfettoReader.open(input);
            case PPROF -> PprofReader.open(input);
            case SPEEDSCOPE -> SpeedscopeReader.open(input);
            case FIREFOX -> FirefoxReader.open(input);
            case CHROME -> ChromeReader.open(input);
            case CALLGRIND -> CallgrindReader.open(input);
            case MASSIF -> MassifReader.open(input);
            case HEAPTRACK -> HeaptrackReader.open(input);
            case DMESG -> DmesgJson.open(input);
            case TEXT -> TextRecording.open(input);
        };
    }
}
