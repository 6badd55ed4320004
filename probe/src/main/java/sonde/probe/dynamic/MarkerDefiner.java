package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNote;
import sonde.binary.elf.ElfSection;
import sonde.event.NearestNames;
import sonde.probe.dynamic.PointSpec.PointPlace.MarkerPoint;

/**
 * Markers that a program's author placed (USDT): notes of owner {@code stapsdt}, type 3, as {@code
 * <sys/sdt.h>} writes them, with their arguments and semaphore.
 */
final class MarkerDefiner {
    private static final int TYPE = 3;
    private static final String NUMBER = "[-+]?(?:0[xX][0-9a-fA-F]{1,16}|\\d{1,19})";
    private static final Pattern ARGUMENT = Pattern.compile("(-?)([1248])(f?)@(.+)");
    private static final Pattern X86_MEMORY = Pattern.compile("(" + NUMBER + ")?\\(%(\\w+)\\)");
    private static final Pattern ARM_MEMORY =
            Pattern.compile("\\[(\\w+)(?:,\\s*#?(" + NUMBER + "))?\\]");

    private final ProbedObject subject;

    MarkerDefiner(ProbedObject subject) {
        this.subject = subject;
    }

    /**
     * One place of a marker.
     *
     * @param semaphore file offset of its counter, 0 for none
     */
    record MarkerLocation(
            String provider, String name, long address, long semaphore, String arguments) {}

    List<ProbeDefinition> define(PointSpec spec, MarkerPoint wanted, ProbeDefiner definer)
            throws IOException {
        ElfFile elf = subject.isKernel() ? null : subject.elf().orElse(null);
        if (elf == null) {
            throw new ProbeException("markers are in programs: name one with -x FILE");
        }
        List<MarkerLocation> all = read(elf);
        List<ProbeDefinition> made = new ArrayList<>();
        String group = spec.group().isEmpty() ? "sdt_" + word(wanted.provider()) : spec.group();
        String name = "";
        for (MarkerLocation marker : all) {
            if (marker.provider().equals(wanted.provider())
                    && marker.name().equals(wanted.name())) {
                if (name.isEmpty()) {
                    name =
                            definer.unique(
                                    group,
                                    spec.name().isEmpty() ? word(marker.name()) : spec.name());
                }
                made.add(definition(spec, marker, group, name, definer));
            }
        }
        if (made.isEmpty()) {
            TreeSet<String> names = new TreeSet<>();
            all.forEach(marker -> names.add("%" + marker.provider() + ":" + marker.name()));
            throw new ProbeException(
                    subject.path()
                            + " has no marker "
                            + wanted.provider()
                            + ":"
                            + wanted.name()
                            + NearestNames.suggestion(
                                    "%" + wanted.provider() + ":" + wanted.name(),
                                    List.copyOf(names),
                                    "it has "));
        }
        return made;
    }

    private static String word(String name) {
        return name.replaceAll("\\W", "_");
    }

    private ProbeDefinition definition(
            PointSpec spec, MarkerLocation marker, String group, String name, ProbeDefiner definer)
            throws IOException {
        ProbeLocation spot = new PointResolver(subject).at(marker.address(), false);
        List<ProbeArgument> arguments = new ArrayList<>();
        if (spec.arguments().isEmpty()) {
            arguments.addAll(arguments(marker));
        } else {
            arguments.addAll(definer.arguments(spec, new LocationScope(subject, spot)));
        }
        String counter =
                marker.semaphore() == 0 ? "" : "(0x" + Long.toHexString(marker.semaphore()) + ")";
        return new ProbeDefinition(
                'p',
                group,
                name,
                definer.programPlace(marker.address()) + counter,
                arguments,
                true,
                "%" + marker.provider() + ":" + marker.name(),
                "");
    }

    /** All markers, in the order of the file; damaged notes are passed over. */
    static List<MarkerLocation> read(ElfFile elf) {
        long base = elf.section(".stapsdt.base").map(ElfSection::address).orElse(0L);
        List<MarkerLocation> all = new ArrayList<>();
        for (ElfNote note : elf.notes()) {
            int word = elf.is64() ? 8 : 4;
            if (note.type() != TYPE
                    || !note.owner().equals("stapsdt")
                    || note.description().length < 3 * word + 3) {
                continue;
            }
            ByteBuffer in = ByteBuffer.wrap(note.description()).order(elf.order());
            long pc = number(in, elf.is64());
            long linked = number(in, elf.is64());
            long semaphore = number(in, elf.is64());
            long moved = base == 0 || linked == 0 ? 0 : base - linked;
            String provider = text(in);
            String name = text(in);
            long counter = semaphore == 0 ? 0 : Math.max(0, elf.offsetOf(semaphore + moved));
            all.add(new MarkerLocation(provider, name, pc + moved, counter, text(in)));
        }
        return all;
    }

    private static long number(ByteBuffer in, boolean wide) {
        return wide ? in.getLong() : Integer.toUnsignedLong(in.getInt());
    }

    private static String text(ByteBuffer in) {
        int from = in.position();
        int end = from;
        while (end < in.limit() && in.get(end) != 0) {
            end++;
        }
        in.position(Math.min(end + 1, in.limit()));
        return new String(in.array(), from, end - from, StandardCharsets.UTF_8);
    }

    private List<ProbeArgument> arguments(MarkerLocation marker) {
        List<ProbeArgument> made = new ArrayList<>();
        String[] words = marker.arguments().isBlank() ? new String[0] : split(marker.arguments());
        for (int i = 0; i < words.length && i < 32; i++) {
            Matcher sized = ARGUMENT.matcher(words[i]);
            boolean fits = sized.matches();
            String operand = fits ? sized.group(4) : words[i];
            String fetch = fetch(operand);
            if (fetch.isEmpty()) {
                continue;
            }
            String type = "";
            if (fits && sized.group(3).isEmpty()) {
                String sign = sized.group(1).isEmpty() ? "u" : "s";
                type = sign + 8 * Integer.parseInt(sized.group(2));
            }
            made.add(new ProbeArgument("arg" + (i + 1), fetch, type, words[i], ""));
        }
        return made;
    }

    private static String[] split(String arguments) {
        return arguments.strip().split("\\s+(?=-?\\d?f?@?[^\\]]*(?:$|\\s|\\[))");
    }

    /** An operand of the assembler as the kernel fetches it; empty for one that it cannot. */
    private String fetch(String operand) {
        boolean arm = subject.registers() == FetchRegisters.AARCH64;
        if (operand.matches("[$#]?" + NUMBER)) {
            return "\\" + operand.replaceAll("^[$#]", "");
        }
        if (arm) {
            Matcher memory = ARM_MEMORY.matcher(operand);
            if (memory.matches()) {
                String offset = memory.group(2) == null ? "0" : memory.group(2);
                return signed(offset) + "(%" + memory.group(1) + ")";
            }
            return operand.matches("[xw]\\d{1,2}|sp") ? "%" + operand.replaceFirst("^w", "x") : "";
        }
        Matcher memory = X86_MEMORY.matcher(operand);
        if (memory.matches()) {
            String register = whole(memory.group(2));
            String offset = memory.group(1) == null ? "0" : memory.group(1);
            return register.isEmpty() || register.equals("ip")
                    ? ""
                    : signed(offset) + "(%" + register + ")";
        }
        if (operand.matches("%\\w+") && !operand.matches("%[abcd]h|%[xyz]mm\\d+")) {
            String register = whole(operand.substring(1));
            return register.isEmpty() ? "" : "%" + register;
        }
        return "";
    }

    private static String signed(String offset) {
        return offset.startsWith("-") || offset.startsWith("+") ? offset : "+" + offset;
    }

    /** The kernel's name of the whole register: {@code eax} and {@code al} are {@code ax}. */
    private static String whole(String name) {
        if (name.matches("r\\d{1,2}[bwd]?")) {
            return name.replaceAll("[bwd]$", "");
        }
        String bare = name.replaceFirst("^[er](?=[a-z]{2}$)", "");
        return switch (bare) {
            case "al" -> "ax";
            case "bl" -> "bx";
            case "cl" -> "cx";
            case "dl" -> "dx";
            case "sil" -> "si";
            case "dil" -> "di";
            case "bpl" -> "bp";
            case "spl" -> "sp";
            case "ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip" -> bare;
            default -> "";
        };
    }
}
