package sonde.probe.tracefs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.event.Field;
import sonde.event.NearestNames;
import sonde.recording.ftrace.EventFormat;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * Has the kernel read filters before anything is recorded: it alone knows what it takes. They are
 * written into an instance that has no event switched on.
 */
public final class FilterCheck implements AutoCloseable {
    private static final int MAX_KALLSYMS = 256 << 20;

    private final Tracefs tracefs;
    private final TraceInstance instance;
    private final Map<String, List<FilterText.SymbolRange>> symbols = new HashMap<>();
    private byte @Nullable [] kallsyms;

    private FilterCheck(Tracefs tracefs, TraceInstance instance) {
        this.tracefs = tracefs;
        this.instance = instance;
    }

    /** Makes the instance. */
    public static FilterCheck open(Tracefs tracefs) throws SyscallException {
        InstanceName name = InstanceName.ofThisProcess("filter");
        return new FilterCheck(tracefs, TraceInstance.create(tracefs, name));
    }

    /**
     * One filter in the kernel's spelling.
     *
     * @throws FilterRefusedException when the kernel does not take it
     */
    public String check(String event, String text) throws IOException {
        EventFormat format =
                EventFormat.parse(tracefs.text(Tracefs.eventFolder(event) + "/format"), Long.BYTES);
        FilterText filter = FilterText.of(text, format, this::symbols);
        try {
            instance.filter(event, filter.kernel());
            return filter.kernel();
        } catch (SyscallException e) {
            if (e.errno() != Errno.EINVAL) {
                throw e;
            }
            throw refused(event, text, filter, format);
        }
    }

    /** Ranges of a symbol; the kernel takes 60 ms to print its symbols, so only when asked. */
    private List<FilterText.SymbolRange> symbols(String name) {
        return symbols.computeIfAbsent(
                name,
                one -> {
                    byte[] text = kallsyms;
                    try {
                        text =
                                text == null
                                        ? FileCalls.readAll("/proc/kallsyms", MAX_KALLSYMS)
                                        : text;
                        kallsyms = text;
                        return FilterText.symbols(text, one);
                    } catch (SyscallException e) {
                        return List.of();
                    }
                });
    }

    /**
     * What error_log says (since Linux 5.2): the reason, {@code " Command: TEXT"}, and a line with
     * a caret below the place.
     */
    private FilterRefusedException refused(
            String event, String text, FilterText filter, EventFormat format)
            throws SyscallException {
        String[] lines = instance.text("error_log").split("\n", -1);
        String why = "Invalid argument";
        int place = 0;
        for (int i = 0; i + 2 < lines.length; i++) {
            int command = lines[i + 1].indexOf("Command: ");
            if (command >= 0 && lines[i].contains("error: ")) { // the last one counts
                why = lines[i].substring(lines[i].lastIndexOf("error: ") + 7).strip();
                place = lines[i + 2].indexOf('^') - command - "Command: ".length();
            }
        }
        return new FilterRefusedException(
                event, why + hint(why, filter, format), text, start(text, filter, why, place));
    }

    /** The kernel points behind the word that it does not know. */
    private static int start(String text, FilterText filter, String why, int kernelPlace) {
        int place = filter.place(Math.max(kernelPlace, 0));
        if (!why.startsWith("Field not found")) {
            return place;
        }
        int at = Math.min(place, text.length());
        while (at > 0 && !isWord(text.charAt(at - 1))) {
            at--;
        }
        while (at > 0 && isWord(text.charAt(at - 1))) {
            at--;
        }
        return at;
    }

    private static boolean isWord(char c) {
        return Character.isLetterOrDigit(c) || c == '_';
    }

    private String hint(String why, FilterText filter, EventFormat format) {
        List<String> names = format.fields().stream().map(Field::name).toList();
        if (why.startsWith("Field not found")) {
            List<String> own = new ArrayList<>(names);
            own.removeIf(name -> name.startsWith("common_") && !name.equals("common_pid"));
            return "; the event has " + String.join(", ", own);
        }
        Optional<String> word = filter.unknown().stream().findFirst();
        if (word.isEmpty()) {
            return "";
        }
        boolean hidden =
                kallsyms != null && symbols("_text").isEmpty() && symbols("_stext").isEmpty();
        return hidden
                ? "; the addresses of symbols are hidden from this user (kernel.kptr_restrict)"
                : "; '"
                        + word.get()
                        + "' is not a number, no symbol of this kernel, and no name that the event"
                        + " prints"
                        + NearestNames.meant(word.get(), names);
    }

    @Override
    public void close() {
        instance.close();
    }
}
