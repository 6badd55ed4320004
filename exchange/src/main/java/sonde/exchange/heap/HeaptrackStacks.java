package sonde.exchange.heap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.event.heap.HeapStack;
import sonde.event.result.Frame;

/**
 * The stacks of a heaptrack file. Every index begins with 1; a stack names an instruction and the
 * stack of its caller. Frames outside of main are left out, as are C++'s operators new and delete.
 */
final class HeaptrackStacks {
    private static final int MOST_DEPTH = 4096;
    private static final int MOST_INLINED = 256;
    private static final long MOST_TEXT = 1L << 28;
    private static final Set<String> OUTERMOST =
            Set.of("main", "__libc_start_main", "__static_initialization_and_destruction_0");

    private final List<String> strings = new ArrayList<>();
    private final Map<Frame, Integer> frameNumbers = new HashMap<>();
    private final List<Frame> frames = new ArrayList<>();
    private int[] nodeFrames = new int[1 << 10];
    private int[] nodeParents = new int[1 << 10];
    private int nodeCount;
    // By instruction: its frames, the callee first.
    private final List<int[]> pointers = new ArrayList<>();
    // By stack its node; -1 for none.
    private int[] nodes = new int[1 << 10];
    private int traceCount = 1;
    private long textBytes;
    private long omitted;
    private long wrong;

    HeaptrackStacks() {
        strings.add("");
        pointers.add(new int[0]);
        nodes[0] = -1;
    }

    void string(String text) {
        textBytes += text.length();
        omitted += textBytes > MOST_TEXT ? 1 : 0;
        strings.add(textBytes > MOST_TEXT ? "" : text);
    }

    private String string(int index) {
        wrong += index >= strings.size() ? 1 : 0;
        return index < strings.size() ? strings.get(index) : "";
    }

    /** An instruction: module, then function, file and line, the innermost first. */
    void pointer(long address, int[] numbers) {
        String module = numbers.length > 0 ? string(numbers[0]) : "";
        int count = Math.min(MOST_INLINED, Math.max(1, (numbers.length - 1) / 3));
        int[] found = new int[count];
        for (int i = 0; i < count; i++) {
            int first = 1 + 3 * i;
            boolean named = first + 2 < numbers.length;
            String name = named ? string(numbers[first]) : "";
            String file = named ? string(numbers[first + 1]) : "";
            int line = named ? numbers[first + 2] : 0;
            boolean inlined = i < count - 1;
            if (name.isEmpty()) {
                // An address as it was: nothing says where the module was mapped.
                name = "[0x" + Long.toHexString(address) + "]";
            }
            found[i] = number(new Frame(name, module, Frame.Kind.USER, inlined, file, line));
        }
        pointers.add(found);
    }

    private int number(Frame frame) {
        return frameNumbers.computeIfAbsent(
                frame,
                made -> {
                    frames.add(made);
                    return frames.size() - 1;
                });
    }

    void trace(int pointer, int parent) {
        boolean known = pointer < pointers.size() && parent < traceCount;
        wrong += known ? 0 : 1;
        int node = known ? nodes[parent] : -1;
        int[] called = known ? pointers.get(pointer) : new int[0];
        for (int i = called.length - 1; i >= 0; i--) {
            Frame frame = frames.get(called[i]);
            if (isOperatorNew(frame.name())) {
                break;
            }
            node = node(called[i], OUTERMOST.contains(frame.name()) ? -1 : node);
        }
        if (traceCount == nodes.length) {
            nodes = Arrays.copyOf(nodes, 2 * traceCount);
        }
        nodes[traceCount++] = node;
    }

    private int node(int frame, int parent) {
        if (nodeCount == nodeFrames.length) {
            nodeFrames = Arrays.copyOf(nodeFrames, 2 * nodeCount);
            nodeParents = Arrays.copyOf(nodeParents, 2 * nodeCount);
        }
        nodeFrames[nodeCount] = frame;
        nodeParents[nodeCount] = parent;
        return nodeCount++;
    }

    static boolean isOperatorNew(String name) {
        return name.startsWith("operator new(") || name.startsWith("operator new[](");
    }

    /** The stacks that allocated. */
    List<HeapStack> stacks(HeapBlocks blocks) {
        List<HeapStack> stacks = new ArrayList<>();
        blocks.bySite(traceCount)
                .forEach((trace, sums) -> stacks.add(new HeapStack(0, frames(nodes[trace]), sums)));
        return stacks;
    }

    private List<Frame> frames(int innermost) {
        List<Frame> stack = new ArrayList<>();
        for (int node = innermost; node >= 0 && stack.size() < MOST_DEPTH; ) {
            stack.add(frames.get(nodeFrames[node]));
            node = nodeParents[node];
        }
        return List.copyOf(stack);
    }

    List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (wrong > 0) {
            notes.add(wrong + " references to names or stacks lead nowhere.");
        }
        if (omitted > 0) {
            notes.add(omitted + " names are left out: they have more than 256 MiB.");
        }
        return notes;
    }
}
