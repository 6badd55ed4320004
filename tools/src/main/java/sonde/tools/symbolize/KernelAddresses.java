package sonde.tools.symbolize;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.CodeDetail;
import sonde.symbol.line.CodePlaces;
import sonde.symbol.line.CodePlaces.FoundCode;
import sonde.symbol.line.KernelCode;
import sonde.view.TextEscape;

/** What addresses of the running kernel and its modules belong to. */
public final class KernelAddresses {
    private static final Pattern NUMBER = Pattern.compile("(?:0[xX])?([0-9a-fA-F]{1,16})");
    private static final Pattern NAME =
            Pattern.compile("([A-Za-z_.$][\\w.$]*)(?:\\+(?:0x([0-9a-f]{1,8})|(\\d{1,9})))?.*");

    private final KernelRun run;
    private final GivenPlaces given;
    private final List<String> notes = new ArrayList<>();

    /**
     * Reads the kernel's symbols.
     *
     * @throws IOException when this user may not see addresses
     */
    public KernelAddresses(GivenPlaces given) throws IOException {
        this(KernelRun.here(), given);
    }

    KernelAddresses(KernelRun run, GivenPlaces given) throws IOException {
        this.run = run;
        this.given = given;
        if (run.symbols().count() == 0) {
            throw new IOException(
                    run.symbols().isRestricted()
                            ? "/proc/kallsyms hides the kernel's addresses from this user"
                                    + " (sysctl kernel.kptr_restrict); run as root"
                            : "/proc/kallsyms has no symbols");
        }
    }

    /** Whether a word is a number in the upper half, where a kernel of 64 bits lies. */
    public static boolean isKernel(String word) {
        Matcher number = NUMBER.matcher(word.strip());
        return number.matches() && Long.parseUnsignedLong(number.group(1), 16) < 0;
    }

    /** An answer; no function where the kernel has none there. */
    private record KernelPlace(
            String input, long address, String function, long offset, long size, String module) {
        String text(FoundCode code) {
            if (function.isEmpty()) {
                return "??";
            }
            String at = code.line() > 0 ? " at " + code.file() + ":" + code.line() : "";
            return "%s+0x%x/0x%x%s%s"
                    .formatted(
                            function,
                            offset,
                            size,
                            module.equals(KernelRun.KERNEL) ? "" : " " + module,
                            at);
        }
    }

    /**
     * Looks addresses and names up.
     *
     * @param words hexadecimal numbers, {@code FUNCTION} or {@code FUNCTION+0x1f}
     * @param withAddress whether the text begins with each address
     */
    public Result of(List<String> words, boolean withAddress) {
        List<KernelPlace> places = words.stream().map(word -> place(word.strip())).toList();
        Map<Long, FoundCode> lines = lines(places);
        Table table =
                new TableBuilder<KernelPlace>("addresses")
                        .text("input", KernelPlace::input)
                        .text("address", one -> shown(one.address))
                        .text("function", one -> one.function)
                        .count("offset", one -> one.function.isEmpty() ? null : one.offset)
                        .count("size", one -> one.function.isEmpty() ? null : one.size)
                        .text("module", one -> one.module)
                        .text("file", one -> code(lines, one).file())
                        .id("line", one -> line(code(lines, one)))
                        .table(places);
        return new TextLayout(
                table,
                out ->
                        places.forEach(one ->
                                out.println(
                                        (withAddress ? shown(one.address) + ": " : "")
                                                + TextEscape.line(one.text(code(lines, one))))));
    }

    private static @Nullable Integer line(FoundCode code) {
        return code.line() > 0 ? code.line() : null;
    }

    private static FoundCode code(Map<Long, FoundCode> lines, KernelPlace place) {
        return lines.getOrDefault(place.address, FoundCode.UNKNOWN);
    }

    private static String shown(long address) {
        return address == 0 ? "" : "0x" + Long.toHexString(address);
    }

    private KernelPlace place(String word) {
        Matcher number = NUMBER.matcher(word);
        Matcher name = NAME.matcher(word);
        KernelSymbols symbols = run.symbols();
        long address = 0;
        if (number.matches() && (word.startsWith("0x") || symbols.addressOf(word) == 0)) {
            address = Long.parseUnsignedLong(number.group(1), 16);
        } else if (name.matches()) {
            address = symbols.addressOf(name.group(1));
            if (address != 0 && name.group(2) != null) {
                address += Long.parseLong(name.group(2), 16);
            } else if (address != 0 && name.group(3) != null) {
                address += Long.parseLong(name.group(3));
            }
        }
        int index = address == 0 ? -1 : symbols.find(address);
        if (index < 0) {
            notes.add(
                    "'"
                            + TextEscape.line(word)
                            + "' is in no function of the running kernel; -e FILE looks in a"
                            + " program or another kernel");
            return new KernelPlace(word, address, "", 0, 0, "");
        }
        long start = symbols.address(index);
        long size = symbols.end(index) - start;
        return new KernelPlace(
                word, address, symbols.name(index), address - start, size, symbols.module(index));
    }

    private Map<Long, FoundCode> lines(List<KernelPlace> places) {
        SymbolOptions from = SymbolOptions.here().with(given);
        KernelCode code = new KernelCode(run, from, given.vmlinux());
        long[] found =
                places.stream()
                        .filter(one -> !one.function.isEmpty())
                        .mapToLong(KernelPlace::address)
                        .toArray();
        CodeDetail detail = new CodeDetail(true, true);
        try (CodePlaces lookup = new CodePlaces(new ProcessMaps(), from, detail, () -> code)) {
            Map<Long, FoundCode> lines = lookup.of(found);
            notes.addAll(code.notes());
            return lines;
        }
    }

    /** What is not known, and why; after {@link #of}. */
    public List<String> notes() {
        return notes.stream().distinct().toList();
    }
}
