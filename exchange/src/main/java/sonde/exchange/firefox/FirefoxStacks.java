package sonde.exchange.firefox;

import sonde.event.result.Frame;
import sonde.recording.LongList;
import sonde.recording.RowStore;
import sonde.recording.json.JsonTree;

/**
 * Call chains of a thread: indices into its stack, frame, function, resource and string tables, or
 * into those that all threads share.
 */
final class FirefoxStacks {
    private static final int MOST_FRAMES = 2048;

    private final RowStore store;
    private final JsonTree strings;
    private final JsonTree stacks;
    private final JsonTree frames;
    private final JsonTree functions;
    private final JsonTree resources;
    private final int[] chains;

    FirefoxStacks(JsonTree shared, JsonTree thread, RowStore store) {
        this.store = store;
        strings =
                first(thread.at("stringArray"), thread.at("stringTable"), shared.at("stringArray"));
        stacks = first(thread.at("stackTable"), shared.at("stackTable"), JsonTree.NULL);
        frames = first(thread.at("frameTable"), shared.at("frameTable"), JsonTree.NULL);
        functions = first(thread.at("funcTable"), shared.at("funcTable"), JsonTree.NULL);
        resources = first(thread.at("resourceTable"), shared.at("resourceTable"), JsonTree.NULL);
        chains = new int[stacks.at("frame").size()];
    }

    private static JsonTree first(JsonTree one, JsonTree two, JsonTree three) {
        return !one.isNull() ? one : !two.isNull() ? two : three;
    }

    String string(int index) {
        return strings.at(index).text();
    }

    /** The store's number of a stack; 0 for none. */
    int chain(int stack) {
        if (stack < 0 || stack >= chains.length) {
            return 0;
        }
        if (chains[stack] == 0) {
            LongList entries = new LongList();
            int at = stack;
            for (int i = 0; i < MOST_FRAMES && at >= 0; i++) {
                entries.add(store.frame(frame(stacks.at("frame").index(at))));
                at = caller(at);
            }
            chains[stack] = store.chain(entries.toArray());
        }
        return chains[stack];
    }

    /** The stack around one: its number, or from version 66 on how far it lies before. */
    private int caller(int stack) {
        JsonTree offsets = stacks.at("prefixOffset");
        if (offsets.isNull()) {
            return stacks.at("prefix").index(stack);
        }
        int offset = offsets.index(stack);
        return offset > 0 ? stack - offset : -1;
    }

    private Frame frame(int index) {
        int function = frames.at("func").index(index);
        String name = string(functions.at("name").index(function));
        int resource = functions.at("resource").index(function);
        String module = string(resources.at("name").index(resource));
        boolean script = functions.at("isJS").at(function).json().equals("true");
        Frame.Kind kind =
                script
                        ? Frame.Kind.JIT
                        : module.startsWith("[kernel") ? Frame.Kind.KERNEL : Frame.Kind.USER;
        return new Frame(name, module, kind);
    }
}
