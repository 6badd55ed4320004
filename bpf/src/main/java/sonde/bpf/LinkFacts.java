package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import sonde.bpf.call.KernelObject;
import sonde.sys.SyscallException;

/**
 * struct bpf_link_info.
 *
 * @param type enum bpf_link_type
 * @param details what its type adds, under bpftool's keys: numbers as Long, else String
 */
public record LinkFacts(int id, int type, int programId, Map<String, Object> details) {
    /** The union begins at 16; the largest, uprobe_multi, ends at 64. */
    private static final int SIZE = 64;

    private static final int TEXT_BYTES = 4096;

    private static final String[] PERF_KINDS = {
        "unspec", "uprobe", "uretprobe", "kprobe", "kretprobe", "tracepoint", "event"
    };

    static LinkFacts of(int fd) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment facts = arena.allocate(SIZE, 8);
            KernelObject.info(fd, facts, "a link");
            int type = facts.get(JAVA_INT, 0);
            int id = facts.get(JAVA_INT, 4);
            int program = facts.get(JAVA_INT, 8);
            Map<String, Object> details = new LinkedHashMap<>();
            LinkType known = LinkType.of(type);
            if (known != null) {
                add(known, fd, facts, details);
            }
            return new LinkFacts(id, type, program, details);
        }
    }

    private static void add(LinkType type, int fd, MemorySegment facts, Map<String, Object> details)
            throws SyscallException {
        switch (type) {
            case RAW_TRACEPOINT -> {
                details.put("tp_name", text(fd, 16, 24));
                number(details, "cookie", facts.get(JAVA_LONG, 32));
            }
            case TRACING -> {
                details.put("attach_type", AttachType.nameOf(facts.get(JAVA_INT, 16)));
                number(details, "target_obj_id", facts.get(JAVA_INT, 20));
                number(details, "target_btf_id", facts.get(JAVA_INT, 24));
                number(details, "cookie", facts.get(JAVA_LONG, 32));
            }
            case CGROUP -> {
                details.put("cgroup_id", facts.get(JAVA_LONG, 16));
                details.put("attach_type", AttachType.nameOf(facts.get(JAVA_INT, 24)));
            }
            case ITER -> {
                details.put("target_name", text(fd, 16, 24));
                number(details, "map_id", facts.get(JAVA_INT, 28));
            }
            case NETNS -> {
                details.put("netns_ino", facts.get(JAVA_INT, 16) & 0xffff_ffffL);
                details.put("attach_type", AttachType.nameOf(facts.get(JAVA_INT, 20)));
            }
            case XDP -> details.put("ifindex", (long) facts.get(JAVA_INT, 16));
            case TCX, NETKIT -> {
                details.put("ifindex", (long) facts.get(JAVA_INT, 16));
                details.put("attach_type", AttachType.nameOf(facts.get(JAVA_INT, 20)));
            }
            case PERF_EVENT -> perfEvent(fd, facts, details);
            case KPROBE_MULTI -> {
                details.put("retprobe", (facts.get(JAVA_INT, 28) & 1L));
                details.put("func_cnt", (long) facts.get(JAVA_INT, 24));
                details.put("missed", facts.get(JAVA_LONG, 32));
            }
            case UPROBE_MULTI -> {
                details.put("retprobe", (facts.get(JAVA_INT, 56) & 1L));
                details.put("path", text(fd, 16, 48));
                details.put("func_cnt", (long) facts.get(JAVA_INT, 52));
                number(details, "pid", facts.get(JAVA_INT, 60));
            }
            case STRUCT_OPS -> number(details, "map_id", facts.get(JAVA_INT, 16));
            case SOCKMAP -> {
                number(details, "map_id", facts.get(JAVA_INT, 16));
                details.put("attach_type", AttachType.nameOf(facts.get(JAVA_INT, 20)));
            }
            case NETFILTER -> {
                details.put("pf", (long) facts.get(JAVA_INT, 16));
                details.put("hook", (long) facts.get(JAVA_INT, 20));
                details.put("prio", (long) facts.get(JAVA_INT, 24));
                details.put("flags", (long) facts.get(JAVA_INT, 28));
            }
        }
    }

    /** perf_event: kind at 16, its union at 24 (Linux 6.6; before that nothing). */
    private static void perfEvent(int fd, MemorySegment facts, Map<String, Object> details)
            throws SyscallException {
        int kind = facts.get(JAVA_INT, 16);
        if (kind <= 0 || kind >= PERF_KINDS.length) {
            return;
        }
        details.put("kind", PERF_KINDS[kind]);
        switch (kind) {
            case 1, 2 -> {
                details.put("file", text(fd, 24, 32));
                details.put("offset", facts.get(JAVA_INT, 36) & 0xffff_ffffL);
                number(details, "cookie", facts.get(JAVA_LONG, 40));
                number(details, "ref_ctr_offset", facts.get(JAVA_LONG, 48));
            }
            case 3, 4 -> {
                details.put("func", text(fd, 24, 32));
                details.put("offset", facts.get(JAVA_INT, 36) & 0xffff_ffffL);
                number(details, "addr", facts.get(JAVA_LONG, 40));
                details.put("missed", facts.get(JAVA_LONG, 48));
                number(details, "cookie", facts.get(JAVA_LONG, 56));
            }
            case 5 -> {
                details.put("tracepoint", text(fd, 24, 32));
                number(details, "cookie", facts.get(JAVA_LONG, 40));
            }
            default -> {
                details.put("event_type", (long) facts.get(JAVA_INT, 32));
                details.put("event_config", facts.get(JAVA_LONG, 24));
                number(details, "cookie", facts.get(JAVA_LONG, 40));
            }
        }
    }

    private static void number(Map<String, Object> details, String key, long value) {
        if (value != 0) {
            details.put(key, value);
        }
    }

    /** A text of the link: asked again with room for it. */
    private static String text(int fd, int pointerAt, int sizeAt) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment facts = arena.allocate(SIZE, 8);
            MemorySegment text = arena.allocate(TEXT_BYTES);
            facts.set(JAVA_LONG, pointerAt, text.address());
            facts.set(JAVA_INT, sizeAt, TEXT_BYTES);
            KernelObject.info(fd, facts, "a link");
            return KernelObject.text(text, 0, TEXT_BYTES);
        }
    }

    /** The name of its type as bpftool prints it, or {@code "type 99"}. */
    public String typeName() {
        LinkType known = LinkType.of(type);
        return known == null ? "type " + type : known.kernelName();
    }
}
