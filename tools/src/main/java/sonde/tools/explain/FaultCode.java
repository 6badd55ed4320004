package sonde.tools.explain;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.SectionBytes;
import sonde.binary.machine.CodeLine;
import sonde.binary.machine.MachineDecoder;
import sonde.binary.machine.MachineInstruction;
import sonde.binary.machine.MachineOperand;
import sonde.binary.machine.MachineOperand.MachineAccess;
import sonde.binary.machine.MachineOperand.MachineMemory;
import sonde.binary.machine.MachineOperand.MachineRegister;
import sonde.symbol.ctype.BtfSourceTypes;
import sonde.tools.symbolize.SymbolizeRecipe.LogCopy;
import sonde.tools.symbolize.SymbolizeRecipe.LogCopy.LogPlace;

/**
 * The faulting instruction of a report, and those around it, from its line {@code Code:}.
 *
 * @param detail the instruction with its operands
 * @param instructions in the order of memory; their addresses are offsets in the function
 */
record FaultCode(String detail, List<CodeRow> instructions) {
    /**
     * @param at {@code function+0x1f}
     */
    record CodeRow(String at, String text, boolean isFault) {}

    /** The registers that the processor saved at the fault, as {@code rax}, {@code x0}. */
    private record Block(LogFrame at, int machine, Map<String, Long> registers, String code) {}

    private static final Pattern REGISTER =
            Pattern.compile(
                    "\\b([RE][A-D]X|[RE][SD]I|[RE][BS]P|R\\d\\d|x\\d{1,2}|sp|[FG]S) ?: ?"
                            + "(?:[0-9a-f]{4}:)?([0-9a-f]{16}|[0-9a-f]{8})\\b");

    private static final Pattern AT =
            Pattern.compile(
                    "(?<name>[A-Za-z_.$][\\w.$]*)\\+0x(?<offset>[0-9a-f]{1,8})/"
                            + "0x(?<size>[0-9a-f]{1,8})");

    /** Stacks go on behind these with the registers of the fault. */
    private static final Pattern TRAP =
            Pattern.compile(
                    "(?:asm_exc_)?(?:invalid_op|page_fault|async_page_fault|general_protection"
                            + "|divide_error)");

    /** The kernel prints 21 bytes behind the first of the instruction. */
    private static final int BEHIND = 22;

    private static final int MOST_FUNCTION = 1 << 12;

    /** {@code KASAN_SHADOW_OFFSET} of x86-64, arch/x86/Kconfig. */
    private static final long SHADOW = 0xdffffc0000000000L;

    /**
     * The instruction of a report; null where it has none that is sure.
     *
     * @param symbols names variables and members; null for none
     */
    static @Nullable FaultCode of(
            Map<String, String> fields, List<LogLine> lines, @Nullable LogCopy symbols)
            throws IOException {
        boolean hasCode = lines.stream().anyMatch(line -> line.text().startsWith("Code: "));
        Block block = hasCode ? block(lines) : null;
        MachineDecoder decoder =
                block == null ? null : MachineDecoder.of(block.machine()).orElse(null);
        if (block == null || decoder == null) {
            return null;
        }
        boolean words = block.machine() == ElfFile.EM_AARCH64;
        CodeLine.CodeBytes bytes = CodeLine.parse(block.code(), words).orElse(null);
        if (bytes == null && symbols != null) {
            bytes = image(block, symbols); // the kernel could not read them
        }
        if (bytes == null || bytes.mark() < 0) {
            return null;
        }
        String offset = block.at().offset();
        long start = Long.parseLong(offset.substring(2, offset.indexOf('/')), 16);
        CodeLine code = CodeLine.of(decoder, bytes, start);
        if (!code.fault().isValid()) {
            return null;
        }
        String function = block.at().function();
        List<CodeRow> rows = new ArrayList<>();
        for (int i = 0; i < code.instructions().size(); i++) {
            MachineInstruction one = code.instructions().get(i);
            rows.add(
                    new CodeRow(
                            place(function, one.address()),
                            one.text(to -> place(function, to)),
                            i == code.marked()));
        }
        String detail = detail(block, code.fault(), fields);
        String names = symbols == null ? "" : names(block, code, symbols);
        return new FaultCode(names.isEmpty() ? detail : detail + "; " + names, rows);
    }

    private static @Nullable LogPlace place(Block block, LogCopy symbols) throws IOException {
        Matcher at = AT.matcher(block.at().raw());
        return at.find()
                ? symbols.place(
                        at.group("name"),
                        Long.parseLong(at.group("offset"), 16),
                        Long.parseLong(at.group("size"), 16),
                        block.at().module())
                : null;
    }

    /** The bytes from the begin of the function on, as its file has them. */
    private static CodeLine.@Nullable CodeBytes image(Block block, LogCopy symbols)
            throws IOException {
        LogPlace place = place(block, symbols);
        String offset = block.at().offset();
        long far = Long.parseLong(offset.substring(2, offset.indexOf('/')), 16);
        if (place == null || far > MOST_FUNCTION) {
            return null;
        }
        long begin = place.address() - far;
        for (ElfSection section : place.symbols().elf().sections()) {
            if (section.type() == ElfFile.SHT_PROGBITS
                    && section.isExecutable()
                    && section.contains(begin)) {
                SectionBytes all = place.symbols().elf().bytes(section);
                long from = begin - section.address();
                long size = Long.parseLong(offset.substring(offset.indexOf("/0x") + 3), 16);
                long end = Math.min(Math.max(size, far + BEHIND), far + MOST_FUNCTION);
                byte[] bytes = new byte[(int) Math.min(end, all.sizeBytes() - from)];
                for (int i = 0; i < bytes.length; i++) {
                    bytes[i] = all.at(from + i);
                }
                return bytes.length > far ? new CodeLine.CodeBytes(bytes, (int) far) : null;
            }
        }
        return null;
    }

    /** The variable and member that the instruction accesses. */
    private static String names(Block block, CodeLine code, LogCopy symbols) throws IOException {
        LogPlace place = place(block, symbols);
        if (place == null) {
            return "";
        }
        BtfSourceTypes types = block.at().module().isEmpty() ? symbols.types() : null;
        boolean isBtf = types != null && place.symbols().scope(place.address()).isEmpty();
        MachineDecoder decoder = MachineDecoder.of(block.machine()).orElse(null);
        CodeLine.CodeBytes whole = isBtf ? image(block, symbols) : null;
        Matcher at = AT.matcher(block.at().raw());
        if (types != null && decoder != null && whole != null && at.find()) {
            return OperandNames.of(
                    place,
                    CodeLine.of(decoder, whole, whole.mark()),
                    block.machine(),
                    types,
                    at.group("name"));
        }
        Long address = null;
        for (MachineOperand operand : code.fault().operands()) {
            address = operand instanceof MachineMemory one ? address(block, one) : address;
        }
        return OperandNames.of(place, code, block.machine(), address);
    }

    private static String place(String function, long offset) {
        return function + (offset < 0 ? "-0x" : "+0x") + Long.toHexString(Math.abs(offset));
    }

    /** The first registers and bytes of the kernel itself, where they are of one place. */
    private static @Nullable Block block(List<LogLine> lines) {
        LogFrame at = null;
        int machine = 0;
        boolean isUser = false;
        boolean isStack = false;
        String last = "";
        for (LogLine line : lines) {
            String text = line.text();
            LogFrame top = LogFrame.top(text);
            if (top != null) {
                if (isStack && at == null && !TRAP.matcher(last).matches()) {
                    return null;
                }
                if (at != null
                        && !(at.function() + at.offset()).equals(top.function() + top.offset())) {
                    return null;
                }
                isStack = at != null;
                isUser = false;
                machine = at == null ? machine(text) : machine;
                at = at == null ? top : at;
            } else if (text.contains("RIP: 00") && !text.contains("RIP: 0010:")) {
                isUser = true;
            } else if (text.startsWith("Code: ") && !isUser && at != null) {
                return new Block(at, machine, registers(lines, at), text.substring(6));
            } else if (text.startsWith("Call T") || text.startsWith("Call t")) {
                isStack = true;
            } else {
                List<LogFrame> frames = isStack ? LogFrame.of(text) : List.of();
                last = frames.isEmpty() ? last : frames.getLast().function();
            }
        }
        return null;
    }

    private static int machine(String text) {
        return text.contains("RIP")
                ? ElfFile.EM_X86_64
                : text.contains("EIP")
                        ? ElfFile.EM_386
                        : text.startsWith("pc :") ? ElfFile.EM_AARCH64 : 0;
    }

    /** The registers behind the line that names the place, before any other stack or registers. */
    private static Map<String, Long> registers(List<LogLine> lines, LogFrame at) {
        Map<String, Long> registers = new HashMap<>();
        boolean begun = false;
        for (LogLine line : lines) {
            String text = line.text();
            LogFrame top = LogFrame.top(text);
            begun |= top != null && top.raw().equals(at.raw());
            boolean ends =
                    text.startsWith("Call ")
                            || text.contains("RIP: 0033:")
                            || begun && top == null && !LogFrame.of(text).isEmpty();
            if (begun && ends) {
                break;
            }
            boolean may = begun && text.indexOf(':') > 0;
            Matcher register = may ? REGISTER.matcher(text) : null;
            while (register != null && register.find()) {
                String name = register.group(1).toLowerCase(Locale.ROOT);
                registers.putIfAbsent(
                        name.endsWith("s") ? name : name(name),
                        Long.parseUnsignedLong(register.group(2), 16));
            }
        }
        return registers;
    }

    /** The register of which it is a part. */
    static String name(String part) {
        return switch (part) {
            case "lr", "w30" -> "x30";
            case "wsp" -> "sp";
            case "al", "bl", "cl", "dl" -> "r" + part.charAt(0) + "x";
            case "sil", "dil", "bpl", "spl" -> "r" + part.substring(0, 2);
            case "ax", "bx", "cx", "dx", "si", "di", "bp" -> "r" + part;
            default -> {
                char first = part.charAt(0);
                if (first == 'r' && part.length() > 1 && Character.isDigit(part.charAt(1))) {
                    yield "r" + Integer.parseInt(part.replaceAll("\\D", ""));
                }
                yield first == 'e'
                        ? "r" + part.substring(1)
                        : first == 'w' ? "x" + part.substring(1) : part;
            }
        };
    }

    private static @Nullable Long value(Block block, String register, int bits) {
        if (register.endsWith("zr")) {
            return 0L;
        }
        Long whole = block.registers().get(name(register));
        return whole == null || bits == 0 || bits >= 64 ? whole : (Long) (whole & (1L << bits) - 1);
    }

    private static int bits(Block block, String register) {
        boolean half = register.startsWith("w") || register.startsWith("e");
        return half || block.machine() == ElfFile.EM_386 ? 32 : 64;
    }

    private static String detail(
            Block block, MachineInstruction fault, Map<String, String> fields) {
        String function = block.at().function();
        List<String> parts = new ArrayList<>();
        parts.add(
                "the instruction at "
                        + place(function, fault.address())
                        + " is "
                        + fault.text(to -> place(function, to)));
        Set<String> shown = new LinkedHashSet<>();
        Set<String> pointers = new HashSet<>();
        // ud1 and ud2 are traps: what follows them is a number of the compiler.
        int count = fault.mnemonic().startsWith("ud") ? 0 : fault.operands().size();
        for (int i = 0; i < count; i++) {
            MachineOperand operand = fault.operands().get(i);
            if (operand instanceof MachineMemory memory) {
                shown.add(memory.base());
                shown.add(memory.index());
                pointers.addAll(shown);
                String access = access(block, memory, fields);
                if (!access.isEmpty()) {
                    parts.add(access);
                }
            } else if (operand instanceof MachineRegister register
                    && (i > 0 || fault.operands().size() == 1)
                    && register.bits() >= 8) {
                shown.add(register.name());
            }
        }
        shown.remove("");
        for (String name : shown) {
            Long value = value(block, name, bitsOf(fault, name));
            if (value != null) {
                String meaning =
                        IncidentDetails.meaning("%016x".formatted(value), pointers.contains(name));
                parts.add(
                        name.toUpperCase(Locale.ROOT)
                                + " = "
                                + hex(value)
                                + (meaning.isEmpty() ? "" : " (" + meaning + ")"));
            }
        }
        return String.join("; ", parts);
    }

    private static int bitsOf(MachineInstruction fault, String name) {
        for (MachineOperand operand : fault.operands()) {
            if (operand instanceof MachineRegister register && register.name().equals(name)) {
                return register.bits();
            }
        }
        return 64;
    }

    private static String hex(long value) {
        return value == 0 ? "0" : "0x" + Long.toHexString(value);
    }

    /** The address of a memory operand; null where a register is not known. */
    private static @Nullable Long address(Block block, MachineMemory memory) {
        long address = memory.displacement();
        String segment = memory.segment();
        if (segment.equals("gs") || segment.equals("fs")) {
            Long start = block.registers().get(segment);
            if (start == null || block.machine() != ElfFile.EM_X86_64) {
                return null;
            }
            address += start;
        }
        if (!memory.base().isEmpty()) {
            Long base = value(block, memory.base(), bits(block, memory.base()));
            if (base == null) {
                return null;
            }
            address += base;
        }
        if (!memory.index().isEmpty()) {
            Long index = value(block, memory.index(), bits(block, memory.index()));
            if (index == null) {
                return null;
            }
            boolean signed = memory.decoration().contains("sxtw");
            address += (signed ? index.intValue() : index) * Math.max(memory.scale(), 1);
        }
        boolean isHalf = block.machine() == ElfFile.EM_386 || memory.base().startsWith("e");
        return isHalf ? address & 0xffff_ffffL : address;
    }

    private static String access(Block block, MachineMemory memory, Map<String, String> fields) {
        boolean reads = memory.access() != MachineAccess.ADDRESS;
        Long address = reads ? address(block, memory) : null;
        if (address == null) {
            return "";
        }
        String verb =
                switch (memory.access()) {
                    case READ -> "reads ";
                    case WRITE -> "writes ";
                    case READ_WRITE -> "reads and writes ";
                    case ADDRESS -> "";
                };
        String size =
                memory.bytes() < 1 || block.machine() == ElfFile.EM_AARCH64
                        ? "memory"
                        : memory.bytes() == 1 ? "1 byte" : memory.bytes() + " bytes";
        String text = "it " + verb + size + " at " + hex(address);
        String printed = fields.getOrDefault("address", "").replaceFirst("^0x", "");
        if (printed.matches("[0-9a-f]{8,16}")) {
            long distance = Long.parseUnsignedLong(printed, 16) - address;
            boolean same = distance >= 0 && distance < Math.max(memory.bytes(), 1);
            return same ? text + ", the address of the fault" : text;
        }
        long top = address >> 56;
        boolean isWild = block.machine() == ElfFile.EM_X86_64 && top != 0 && top != -1;
        if (!isWild) {
            return text;
        }
        boolean shadow =
                usesShadow(block, memory.base())
                        || usesShadow(block, memory.index())
                        || memory.displacement() == SHADOW;
        long object = address - SHADOW << 3;
        return text
                + ", which is no address of the processor"
                + (shadow
                        ? ": the shadow that KASAN keeps of "
                                + hex(object)
                                + " to "
                                + hex(object + 7)
                        : "");
    }

    private static boolean usesShadow(Block block, String register) {
        Long value = register.isEmpty() ? null : value(block, register, 64);
        return value != null && value == SHADOW;
    }
}
