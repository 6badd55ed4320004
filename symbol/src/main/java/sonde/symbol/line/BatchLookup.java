package sonde.symbol.line;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.code.CodeReader;
import sonde.binary.dwarf.code.DwarfCode;
import sonde.binary.dwarf.code.UnitCode;

/** Looks many addresses up at once: each unit is read once, units by all processors. */
final class BatchLookup {
    /** A thread is worth its start from so many units on. */
    private static final int UNITS_PER_THREAD = 8;

    private final DwarfCode code;
    private final CodeReader first;
    private final int threads;
    private final long[] addresses;
    private final List<SourceFrame>[] answers;

    /**
     * @param first reader of the calling thread
     * @param addresses ascending as signed numbers, each once
     */
    @SuppressWarnings({"unchecked", "rawtypes"})
    BatchLookup(DwarfCode code, CodeReader first, int threads, long[] addresses) {
        this.code = code;
        this.first = first;
        this.threads = threads;
        this.addresses = addresses;
        answers = new List[addresses.length];
        Arrays.fill(answers, List.of());
    }

    /** A unit and the places of its addresses. */
    private record Task(int unit, int[] places, boolean thorough) {}

    /** Frames of each address, innermost first; empty where nothing is known. */
    List<SourceFrame>[] run() {
        if (code.isEmpty()) {
            return answers;
        }
        int[] units = new int[addresses.length];
        for (int i = 0; i < units.length; i++) {
            units[i] = code.layout().isCode(addresses[i]) ? code.statedUnit(addresses[i]) : -1;
        }
        read(tasks(units));
        // .debug_aranges may be missing, incomplete or wrong.
        boolean more = false;
        for (int i = 0; i < units.length; i++) {
            int unit = -1;
            if (answers[i].isEmpty() && code.layout().isCode(addresses[i])) {
                unit = code.unitOf(addresses[i]);
                unit = unit == units[i] ? -1 : unit;
                more |= unit >= 0;
            }
            units[i] = unit;
        }
        if (more) {
            read(tasks(units));
        }
        readRangeless();
        return answers;
    }

    /** Units that do not say which addresses they have are asked for all that are left. */
    private void readRangeless() {
        int[] left = left();
        if (left.length == 0) {
            return;
        }
        code.unitOf(0);
        for (int unit : code.unitsWithoutRanges()) {
            if (left.length > 0) {
                read(first, new Task(unit, left, false));
                left = left();
            }
        }
    }

    private int[] left() {
        int[] places = new int[addresses.length];
        int count = 0;
        for (int i = 0; i < places.length; i++) {
            if (answers[i].isEmpty() && code.layout().isCode(addresses[i])) {
                places[count++] = i;
            }
        }
        return Arrays.copyOf(places, count);
    }

    /** The addresses of each unit together; -1 is no unit. */
    private static List<Task> tasks(int[] units) {
        long[] keys = new long[units.length];
        int count = 0;
        for (int i = 0; i < units.length; i++) {
            if (units[i] >= 0) {
                keys[count++] = (long) units[i] << 32 | i;
            }
        }
        Arrays.sort(keys, 0, count);
        List<Task> tasks = new ArrayList<>();
        int to;
        for (int from = 0; from < count; from = to) {
            int unit = (int) (keys[from] >>> 32);
            to = from;
            while (to < count && (int) (keys[to] >>> 32) == unit) {
                to++;
            }
            int[] places = new int[to - from];
            for (int i = from; i < to; i++) {
                places[i - from] = (int) keys[i];
            }
            tasks.add(new Task(unit, places, false));
        }
        return tasks;
    }

    private void read(List<Task> tasks) {
        int count = Math.clamp(tasks.size() / UNITS_PER_THREAD, 1, threads);
        AtomicInteger next = new AtomicInteger();
        ParallelWork.run(count, own -> drain(own ? first : code.reader(), tasks, next));
    }

    private void drain(CodeReader reader, List<Task> tasks, AtomicInteger next) {
        for (int i = next.getAndIncrement(); i < tasks.size(); i = next.getAndIncrement()) {
            read(reader, tasks.get(i));
        }
    }

    private void read(CodeReader reader, Task task) {
        long[] wanted = new long[task.places.length];
        for (int i = 0; i < wanted.length; i++) {
            wanted[i] = addresses[task.places[i]];
        }
        UnitCode unit = reader.read(task.unit, wanted, task.thorough);
        if (unit == null) {
            return;
        }
        boolean nameless = false;
        for (int place : task.places) {
            try {
                List<SourceFrame> frames = UnitAnswers.frames(unit, addresses[place]);
                answers[place] = frames.isEmpty() ? answers[place] : frames;
                nameless |= !frames.isEmpty() && frames.getFirst().function().isEmpty();
            } catch (MalformedInputException e) {
                // This one has no answer; others of the unit may.
                continue;
            }
        }
        if (nameless && !task.thorough) {
            read(reader, new Task(task.unit, task.places, true));
        }
    }
}
