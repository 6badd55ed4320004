package sonde.exchange.heap;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.event.heap.HeapMoment;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSums;

/**
 * Reads what heaptrack writes (KDE/heaptrack, {@code accumulatedtracedata.cpp}, file versions 0 to
 * 3) in one pass and bounded memory. All numbers are hexadecimal; times are milliseconds since the
 * program's start.
 */
final class HeaptrackProfile {
    private static final int BUFFER_BYTES = 1 << 20;

    /** Longer than any line of an event. */
    private static final int EVENT_BYTES = 64;

    private static final int NEWEST_VERSION = 3;
    private static final int MOST_POINTERS = 1 << 24;
    private static final byte[] DIGITS = new byte[256];

    static {
        Arrays.fill(DIGITS, (byte) -1);
        for (int digit = 0; digit < 16; digit++) {
            DIGITS[Character.forDigit(digit, 16)] = (byte) digit;
        }
    }

    private final InputStream in;
    private final long until;
    private final byte[] buffer = new byte[BUFFER_BYTES + EVENT_BYTES];
    private int at;
    private int end;
    private boolean ended;

    private final HeapBlocks blocks = new HeapBlocks();
    private final HeaptrackStacks stacks = new HeaptrackStacks();
    private final CurvePoints curve = new CurvePoints();
    private final List<String> suppressions = new ArrayList<>();
    private final Map<Long, Integer> pointers = new HashMap<>();
    private final Map<Kind, Integer> kinds = new HashMap<>();
    private String command = "";
    private long version;
    private long time;
    private long pageBytes = 4096;
    private long rss = HeapSums.UNKNOWN;
    private long peakRss = HeapSums.UNKNOWN;
    private long bad;
    private long unknown;
    private boolean attached;
    private boolean past;
    private boolean cut;

    private record Kind(long size, int site) {}

    private HeaptrackProfile(InputStream in, long untilNanos) {
        this.in = in;
        this.until = untilNanos == HeapSums.UNKNOWN ? Long.MAX_VALUE : untilNanos / 1_000_000;
    }

    static HeapFile read(InputStream in, long untilNanos) throws IOException {
        return new HeaptrackProfile(in, untilNanos).read();
    }

    private HeapFile read() throws IOException {
        fill();
        while (at < end && !past) {
            if (end - at < EVENT_BYTES) {
                fill();
            }
            if (version > 0) {
                events();
            }
            if (at < end) {
                line();
            }
        }
        point();
        List<String> notes = new ArrayList<>();
        if (attached) {
            notes.add("heaptrack attached to a running program: older blocks are not counted.");
        }
        if (bad > 0) {
            notes.add(bad + " lines could not be read.");
        }
        if (unknown > 0) {
            notes.add(unknown + " frees of blocks that were not in use are not counted.");
        }
        notes.addAll(stacks.notes());
        HeapProfile profile =
                new HeapProfile(
                        command,
                        "heaptrack",
                        (time + 1) * 1_000_000,
                        "ns",
                        blocks.totals(),
                        blocks.peakTime() * 1_000_000,
                        peakRss,
                        stacks.stacks(blocks),
                        curve.points(),
                        blocks.sizes(),
                        List.of(),
                        notes);
        return new HeapFile(profile, suppressions, List.of(), cut);
    }

    /** Moves what is left to the front, and reads on; behind it stands the end of a line. */
    private void fill() throws IOException {
        System.arraycopy(buffer, at, buffer, 0, end - at);
        end -= at;
        at = 0;
        while (!ended && end < BUFFER_BYTES) {
            int count = in.read(buffer, end, BUFFER_BYTES - end);
            ended = count < 0;
            end += Math.max(0, count);
        }
        buffer[end] = '\n';
    }

    /** Reads lines {@code + NUMBER} and {@code - NUMBER} up to one that is neither. */
    private void events() {
        byte[] text = buffer;
        byte[] digits = DIGITS;
        // Behind the last line that is surely whole; all of the rest once the file has ended.
        int last = ended ? end : end - EVENT_BYTES;
        int from = at;
        while (from < last) {
            int delta = ',' - text[from];
            int digit = from + 2;
            int number = 0;
            int value = digits[text[digit] & 0xff];
            while (value >= 0) {
                number = number << 4 | value;
                value = digits[text[++digit] & 0xff];
            }
            int count = digit - from - 2;
            boolean whole = text[from + 1] == ' ' && text[digit] == '\n' && digit < end;
            if (!whole || delta * delta != 1 || count == 0 || count > 8) {
                break;
            }
            from = digit + 1;
            if (!blocks.change(number, delta, time)) {
                refused(delta);
            }
        }
        at = Math.min(from, end);
    }

    private void refused(int delta) {
        bad += delta > 0 ? 1 : 0;
        unknown += delta < 0 ? 1 : 0;
    }

    private void line() throws IOException {
        int close = at;
        while (buffer[close] != '\n' || close == end && !ended) {
            if (close < end) {
                close++;
            } else if (at > 0) {
                close -= at;
                fill();
            } else {
                // A line of more than the buffer is none of heaptrack's.
                at = end;
                bad++;
                fill();
                close = 0;
            }
        }
        // Half a number would be another number.
        cut |= close == end;
        if (close < end && close - at >= 2 && buffer[at] != '#') {
            record((char) buffer[at], new HexWords(at + 2, close));
        }
        at = Math.min(end, close + 1);
    }

    /** The words of a line. */
    private final class HexWords {
        private int next;
        private final int close;
        private boolean wrong;

        HexWords(int next, int close) {
            this.next = next;
            this.close = close;
        }

        boolean more() {
            return next < close && !wrong;
        }

        long number() {
            long number = 0;
            int from = next;
            while (next < close && DIGITS[buffer[next] & 0xff] >= 0) {
                number = number << 4 | DIGITS[buffer[next++] & 0xff];
            }
            wrong |= next == from || next - from > 16 || next < close && buffer[next] != ' ';
            next++;
            return number;
        }

        int index() {
            long number = number();
            wrong |= number < 0 || number > Integer.MAX_VALUE;
            return wrong ? 0 : (int) number;
        }

        String rest() {
            return new String(buffer, next, Math.max(0, close - next), StandardCharsets.UTF_8);
        }
    }

    private void record(char kind, HexWords words) throws IOException {
        switch (kind) {
            case 'v' -> version(words);
            case 'X' -> command = words.rest();
            case 'A' -> attached = true;
            case 'I' -> {
                long bytes = words.number();
                pageBytes = bytes > 0 && bytes <= 1 << 24 ? bytes : pageBytes;
            }
            case 'S' -> suppressions.add(words.rest());
            case 's' -> {
                if (version >= 3) {
                    words.number();
                }
                stacks.string(words.rest());
            }
            case 'i' -> {
                int[] numbers = new int[2 + (words.close - words.next) / 2];
                long address = words.number();
                int count = 0;
                while (words.more()) {
                    numbers[count++] = words.index();
                }
                stacks.pointer(address, Arrays.copyOf(numbers, count));
            }
            case 't' -> stacks.trace(words.index(), words.index());
            case 'a' -> kind(words);
            case '+' -> allocated(words);
            case '-' -> freed(words);
            case 'c' -> clock(words.number());
            case 'R' -> {
                rss = HeapSums.times(words.number() & Long.MAX_VALUE, pageBytes);
                peakRss = Math.max(peakRss, rss);
            }
            case 'x', 'm' ->
                    throw MalformedInputException.refusal(
                            "is raw data of heaptrack without the names of functions; run"
                                    + " 'heaptrack --interpret FILE' first");
            default -> words.wrong = true;
        }
        bad += words.wrong ? 1 : 0;
    }

    private void kind(HexWords words) {
        long size = words.number();
        int site = words.index();
        if (words.wrong || !blocks.add(size, site)) {
            words.wrong = true;
            blocks.add(0, 0); // The numbers of those behind it count this one.
        }
    }

    private void version(HexWords words) throws IOException {
        long heaptrack = words.number();
        // heaptrack wrote 0x010200 before its 1.0.0, in what became version 1 of the file.
        version = words.more() ? words.number() : heaptrack == 0x010200 ? 1 : 0;
        if (version < 0 || version > NEWEST_VERSION) {
            throw MalformedInputException.refusal(
                    "is version "
                            + Long.toUnsignedString(version)
                            + " of heaptrack's format; sonde reads the versions 0 to "
                            + NEWEST_VERSION);
        }
    }

    private void clock(long millis) {
        if (millis < time || millis > Long.MAX_VALUE / 1_000_001) {
            bad++;
            return;
        }
        point();
        past = millis > until;
        time = past ? time : millis;
    }

    private void point() {
        curve.add(new HeapMoment(time * 1_000_000, blocks.most(), HeapSums.UNKNOWN, rss));
    }

    /** Version 0: size, stack, address. */
    private void allocated(HexWords words) {
        if (version > 0) {
            int kind = words.index();
            words.wrong |= words.wrong || !blocks.change(kind, 1, time);
            return;
        }
        Kind kind = new Kind(words.number(), words.index());
        long pointer = words.number();
        Integer known = kinds.get(kind);
        if (known == null && !words.wrong && blocks.add(kind.size, kind.site)) {
            known = blocks.kinds() - 1;
            kinds.put(kind, known);
        }
        words.wrong |= known == null || pointers.size() == MOST_POINTERS;
        if (known != null && !words.wrong) {
            blocks.change(known, 1, time);
            pointers.put(pointer, known);
        }
    }

    private void freed(HexWords words) {
        long number = words.number();
        Integer kind = version > 0 ? Integer.valueOf((int) number) : pointers.remove(number);
        words.wrong |= version > 0 && number >>> 32 != 0;
        // A file of version 0 names the blocks of a program that ran before, too.
        if (kind != null && !words.wrong && !blocks.change(kind, -1, time)) {
            unknown++;
        }
    }
}
