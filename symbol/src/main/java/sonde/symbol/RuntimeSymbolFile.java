package sonde.symbol;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import sonde.binary.elf.ElfFile;

/**
 * A file that names frames of run times for programs that do not know {@link RuntimeFrames}: an ELF
 * file without code, which has a symbol for each function. A PERF_RECORD_MMAP2 of it at {@link
 * #START} makes perf show the names.
 */
public final class RuntimeSymbolFile {
    /** Name of the file in a bundle. */
    public static final String FILE = "frames.so";

    /** Where it is mapped in every process; the address of a symbol is the distance from here. */
    public static final long START = RuntimeFrames.address(0, 0) - 1;

    /** How much memory it is mapped into. */
    public static final long SIZE_BYTES = RuntimeFrames.address(RuntimeFrames.MOST, 0) - 1 - START;

    private static final int HEADER_BYTES = 64;
    private static final int SECTION_BYTES = 64;
    private static final int SYMBOL_BYTES = 24;

    // e_ident: 64 bits, little-endian, version 1.
    private static final byte[] IDENTITY = {0x7f, 'E', 'L', 'F', 2, 1, 1};

    /** STB_GLOBAL, STT_FUNC. */
    private static final byte FUNCTION = 0x12;

    private static final String SECTIONS = "\0.text\0.symtab\0.strtab\0.shstrtab\0";

    private RuntimeSymbolFile() {}

    /** The file of functions by number. */
    public static byte[] of(Map<Integer, String> functions) {
        int symbols = SYMBOL_BYTES * (1 + functions.size());
        ByteBuffer table = buffer(symbols);
        table.position(SYMBOL_BYTES);
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        names.write(0);
        functions.forEach((number, name) -> {
            long start = RuntimeFrames.address(number, 0) - 1 - START;
            long end = RuntimeFrames.address(number + 1, 0) - 1 - START;
            table.putInt(names.size()).put(FUNCTION).put((byte) 0).putShort((short) 1);
            table.putLong(start).putLong(end - start);
            names.writeBytes(RuntimeFrames.printable(name).getBytes(StandardCharsets.UTF_8));
            names.write(0);
        });
        byte[] sections = SECTIONS.getBytes(StandardCharsets.US_ASCII);
        int strings = HEADER_BYTES + symbols;
        int sectionNames = strings + names.size();
        int headers = sectionNames + sections.length + 7 & -8;
        ByteBuffer file = buffer(headers + 5 * SECTION_BYTES);
        file.put(IDENTITY).position(16);
        file.putShort((short) ElfFile.ET_DYN).putShort((short) ElfFile.EM_X86_64).putInt(1);
        file.putLong(0).putLong(0).putLong(headers).putInt(0);
        file.putShort((short) HEADER_BYTES).putShort((short) 0).putShort((short) 0);
        file.putShort((short) SECTION_BYTES).putShort((short) 5).putShort((short) 4);
        file.put(table.array()).put(names.toByteArray()).put(sections).position(headers);
        file.position(headers + SECTION_BYTES);
        long code = ElfFile.SHF_ALLOC | ElfFile.SHF_EXECINSTR;
        section(file, 1, ElfFile.SHT_NOBITS, code, HEADER_BYTES, SIZE_BYTES);
        section(file, 7, ElfFile.SHT_SYMTAB, 0, HEADER_BYTES, symbols);
        section(file, 15, ElfFile.SHT_STRTAB, 0, strings, names.size());
        section(file, 23, ElfFile.SHT_STRTAB, 0, sectionNames, sections.length);
        return file.array();
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** An Elf64_Shdr; the table of symbols is linked to section 3, its strings. */
    private static void section(
            ByteBuffer file, int name, int type, long flags, long offset, long size) {
        boolean isTable = type == ElfFile.SHT_SYMTAB;
        file.putInt(name).putInt(type).putLong(flags).putLong(0).putLong(offset).putLong(size);
        file.putInt(isTable ? 3 : 0).putInt(isTable ? 1 : 0).putLong(isTable ? 8 : 1);
        file.putLong(isTable ? SYMBOL_BYTES : 0);
    }
}
