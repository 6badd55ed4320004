package sonde.exchange.perfetto;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.binary.MalformedInputException;
import sonde.event.result.Frame;
import sonde.exchange.ProtoReader;
import sonde.exchange.perfetto.PacketSequence.CodeFrame;
import sonde.exchange.perfetto.PacketSequence.InternedMapping;
import sonde.recording.LongList;
import sonde.recording.RowStore;

/** Call chains of interned callstacks, with the names that symbolisation packets give. */
final class InternedCallstacks {
    private final RowStore store;

    /** Functions by module (path and build-id), by address. */
    private final Map<String, TreeMap<Long, String[]>> symbols = new HashMap<>();

    InternedCallstacks(RowStore store) {
        this.store = store;
    }

    /** Takes ModuleSymbols (profile_common.proto). */
    void symbols(ProtoReader message) throws MalformedInputException {
        String path = "";
        String build = "";
        TreeMap<Long, String[]> found = new TreeMap<>(Long::compareUnsigned);
        while (message.next()) {
            switch (message.field()) {
                case 1 -> path = message.text();
                case 2 -> build = message.text();
                case 3 -> address(message.message(), found);
                default -> {}
            }
        }
        symbols.computeIfAbsent(path, ignored -> new TreeMap<>(Long::compareUnsigned))
                .putAll(found);
        if (!build.isEmpty()) {
            symbols.computeIfAbsent(build, ignored -> new TreeMap<>(Long::compareUnsigned))
                    .putAll(found);
        }
    }

    private static void address(ProtoReader message, TreeMap<Long, String[]> into)
            throws MalformedInputException {
        long address = 0;
        List<String> names = new ArrayList<>();
        while (message.next()) {
            if (message.field() == 1) {
                address = message.value();
            } else if (message.field() == 2) {
                ProtoReader line = message.message();
                while (line.next()) {
                    if (line.field() == 1) {
                        names.add(line.text());
                    }
                }
            }
        }
        into.put(address, names.toArray(new String[0]));
    }

    /** The store's number of a callstack; 0 when there is none. */
    int chain(long iid, PacketSequence sequence) {
        if (iid == 0) {
            return 0;
        }
        Integer known = sequence.chains.get(iid);
        if (known != null) {
            return known;
        }
        long[] frames = sequence.callstacks.get(iid);
        if (frames == null) {
            return 0;
        }
        LongList entries = new LongList();
        for (int i = frames.length - 1; i >= 0; i--) {
            CodeFrame frame = sequence.frames.get(frames[i]);
            if (frame != null) {
                add(entries, frame, sequence);
            }
        }
        int chain = store.chain(entries.toArray());
        sequence.chains.put(iid, chain);
        return chain;
    }

    private void add(LongList entries, CodeFrame frame, PacketSequence sequence) {
        InternedMapping mapping =
                sequence.mappings.getOrDefault(frame.mapping(), new InternedMapping("", ""));
        String module = module(mapping.path());
        Frame.Kind kind = module.startsWith("[kernel") ? Frame.Kind.KERNEL : Frame.Kind.USER;
        String[] named = null;
        TreeMap<Long, String[]> known = symbols.get(mapping.path());
        if (known == null) {
            known = symbols.get(hex(mapping.buildId()));
        }
        if (known != null) {
            named = known.get(frame.relativePc());
        }
        if (named != null && named.length > 0) {
            for (String name : named) {
                entries.add(store.frame(new Frame(name, module, kind)));
            }
            return;
        }
        String name = sequence.functionNames.getOrDefault(frame.function(), "");
        if (name.isEmpty()) {
            name = "[" + module + "+0x" + Long.toHexString(frame.relativePc()) + "]";
        }
        entries.add(store.frame(new Frame(name, module, kind)));
    }

    private static String module(String path) {
        String stripped = path.startsWith("/[") ? path.substring(1) : path;
        return stripped.startsWith("[kernel.kallsyms]") || stripped.equals("/kernel")
                ? "[kernel]"
                : stripped;
    }

    private static String hex(String bytes) {
        StringBuilder hex = new StringBuilder();
        for (int i = 0; i < bytes.length(); i++) {
            hex.append(String.format("%02x", (int) bytes.charAt(i) & 0xff));
        }
        return hex.toString();
    }
}
