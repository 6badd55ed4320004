package sonde.symbol.unwind;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSegment;
import sonde.binary.unwind.FrameRule;
import sonde.binary.unwind.UnwindMachine;
import sonde.binary.unwind.UnwindTable;
import sonde.symbol.CodeMapping;
import sonde.symbol.CodeModule;
import sonde.symbol.ModuleImages;
import sonde.symbol.files.RequiredContent;

/**
 * The unwind tables of all files of a recording, each read once, whatever process or pass asks.
 * Thread-safe.
 */
public final class ModuleFrames {
    private static final long CODE_LIMIT_BYTES = 64L << 20;
    private static final int MOST_NOTES = 4;

    private final ModuleImages images;
    private final Map<Key, Optional<ModuleTable>> known = new HashMap<>();
    private final Set<String> notes = new LinkedHashSet<>();

    private record Key(
            CodeModule.Kind kind, String path, String buildId, long device, long inode) {}

    /** Files come from {@code images}. */
    public ModuleFrames(ModuleImages images) {
        this.images = images;
    }

    /** The tables of a module; empty when its file is not here. */
    Optional<ModuleTable> of(CodeModule module) {
        CodeMapping m = module.mapping();
        Key key = new Key(module.kind(), m.path(), m.buildIdHex(), m.device(), m.inode());
        synchronized (known) {
            Optional<ModuleTable> found = known.get(key);
            if (found == null) {
                found = read(module);
                known.put(key, found);
            }
            return found;
        }
    }

    private Optional<ModuleTable> read(CodeModule module) {
        Optional<ModuleTable> read =
                images.read(
                                module,
                                elf ->
                                        UnwindTable.of(elf)
                                                .map(table -> new ModuleTable(module, elf, table)))
                        .flatMap(one -> one);
        read.ifPresent(tables ->
                tables.table.notes().stream()
                        .limit(MOST_NOTES)
                        .forEach(note -> notes.add(module.shortName() + ": " + note)));
        return read;
    }

    /** What is wrong with unwind information, a line each. */
    public List<String> notes() {
        synchronized (known) {
            return List.copyOf(notes);
        }
    }

    /** A file's table, and what turns offsets in it into addresses. */
    final class ModuleTable {
        private final CodeModule module;
        private final UnwindTable table;
        private final List<ElfSegment> segments;
        private byte @Nullable [][] code;
        private boolean searched;
        private boolean separate;

        ModuleTable(CodeModule module, ElfFile elf, UnwindTable table) {
            this.module = module;
            this.table = table;
            this.segments = elf.segments().stream().filter(ElfSegment::isCode).toList();
        }

        UnwindMachine machine() {
            return table.machine();
        }

        /** The rule at an offset in the file; null when the file has none. */
        @Nullable FrameRule rule(long fileOffset) {
            for (ElfSegment segment : segments) {
                long inside = fileOffset - segment.offset();
                if (Long.compareUnsigned(inside, segment.fileBytes()) < 0) {
                    long address = segment.address() + inside;
                    FrameRule rule = table.find(address);
                    return rule == null && hasMore() ? table.find(address) : rule;
                }
            }
            return null;
        }

        /** Takes the rules of the debug file, once, when the file itself lacks one. */
        private synchronized boolean hasMore() {
            if (!searched) {
                searched = true;
                separate =
                        images.readSeparate(
                                        module,
                                        RequiredContent.FRAMES,
                                        debug -> {
                                            table.addSeparate(debug);
                                            return true;
                                        })
                                .isPresent();
            }
            return separate;
        }

        /** Up to {@code count} bytes of code at an offset in the file. */
        byte[] code(long fileOffset, int count) {
            byte[][] all = code();
            for (int i = 0; i < segments.size(); i++) {
                long inside = fileOffset - segments.get(i).offset();
                if (inside >= 0 && inside < all[i].length) {
                    int to = (int) Math.min(inside + count, all[i].length);
                    return Arrays.copyOfRange(all[i], (int) inside, to);
                }
            }
            return new byte[0];
        }

        private synchronized byte[][] code() {
            byte[][] read = code;
            if (read == null) {
                read = images.read(module, this::copy).orElse(new byte[segments.size()][0]);
                code = read;
            }
            return read;
        }

        private byte[][] copy(ElfFile elf) throws MalformedInputException {
            List<byte[]> copies = new ArrayList<>();
            for (ElfSegment segment : segments) {
                // A recorder has a small heap, and looks at all processes of a machine.
                long most = Math.min(CODE_LIMIT_BYTES, Runtime.getRuntime().maxMemory() / 64);
                boolean fits = segment.fileBytes() <= most;
                copies.add(fits ? elf.bytes(segment) : new byte[0]);
            }
            return copies.toArray(new byte[0][]);
        }
    }
}
