package sonde.bpf.verifier;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.bpf.verifier.RefusalKind.MessageMatch;

/** Puts what a message says into the sentences of its {@link RefusalKind}. */
final class CauseWording {
    private static final Pattern HOLE = Pattern.compile("\\{([a-z0-9]{1,20})\\}");

    /** enum bpf_reg_type as the log writes it. */
    private static final Map<String, String> TYPES =
            Map.ofEntries(
                    Map.entry("scalar", "a number"),
                    Map.entry("inv", "a number"),
                    Map.entry("imm", "a number"),
                    Map.entry("?", "nothing yet"),
                    Map.entry("ctx", "the context"),
                    Map.entry("fp", "a pointer into the stack"),
                    Map.entry("map_ptr", "a map"),
                    Map.entry("map_key", "a pointer to a map's key"),
                    Map.entry("map_value", "a pointer to a map's value"),
                    Map.entry("pkt", "a pointer into the packet"),
                    Map.entry("pkt_meta", "a pointer to the packet's metadata"),
                    Map.entry("pkt_end", "the end of the packet"),
                    Map.entry("mem", "a pointer to memory"),
                    Map.entry("alloc_mem", "a record of a ring buffer"), // until 6.1
                    Map.entry("ringbuf_mem", "a record of a ring buffer"),
                    Map.entry("rdonly_mem", "a pointer to memory that is only read"),
                    Map.entry("buf", "a pointer to a buffer"),
                    Map.entry("rdonly_buf", "a pointer to a buffer that is only read"),
                    Map.entry("sock", "a pointer to a socket"),
                    Map.entry("sock_common", "a pointer to struct sock_common"),
                    Map.entry("tcp_sock", "a pointer to a TCP socket"),
                    Map.entry("func", "a subprogram"),
                    Map.entry("dynptr_ptr", "a dynptr"),
                    Map.entry("ptr_", "a pointer to a structure of the kernel"),
                    Map.entry("trusted_ptr_", "a pointer to a structure of the kernel"),
                    Map.entry("arena", "a pointer into an arena"));

    private CauseWording() {}

    /**
     * Fills the holes.
     *
     * @param call the function that the instruction calls; empty for none
     * @param origin of the register in question; empty when unknown
     * @param mapTypes names of the kernel's types of maps
     */
    static String fill(
            String sentence,
            MessageMatch match,
            String call,
            String origin,
            IntFunction<String> mapTypes) {
        return HOLE.matcher(sentence)
                .replaceAll(hole ->
                        Matcher.quoteReplacement(
                                switch (hole.group(1)) {
                                    case "call" -> call.isEmpty() ? "the call" : call;
                                    case "ended" -> match.ended();
                                    case "origin" -> origin.isEmpty() ? "" : " (" + origin + ")";
                                    case String name -> group(name, match, mapTypes);
                                }));
    }

    private static String group(String name, MessageMatch match, IntFunction<String> mapTypes) {
        String value = match.group(name);
        if (value == null) {
            return name.equals("type") || name.equals("expected") ? "something else" : "";
        }
        return switch (name) {
            case "reg", "other" -> "r" + value;
            case "type", "expected" -> types(value);
            case "kind" -> mapTypes.apply(Integer.parseInt(value));
            default -> value;
        };
    }

    private static String types(String list) {
        List<String> words = new ArrayList<>();
        for (String type : list.strip().split(",? ")) {
            String word = type(type);
            if (!words.contains(word)) {
                words.add(word);
            }
        }
        return String.join(" or ", words);
    }

    /** What a type is, in words. */
    static String type(String name) {
        String known = TYPES.get(name);
        if (known != null) {
            return known;
        }
        if (name.endsWith("_or_null")) {
            return type(name.substring(0, name.length() - "_or_null".length())) + " or null";
        }
        int pointer = name.indexOf("ptr_");
        if (pointer >= 0 && name.length() > pointer + 4) {
            String to = name.substring(pointer + 4);
            boolean nullable = to.startsWith("or_null_");
            String before =
                    name.startsWith("untrusted_")
                            ? "an untrusted pointer to struct "
                            : "a pointer to struct ";
            return nullable ? before + to.substring("or_null_".length()) + " or null" : before + to;
        }
        return name;
    }
}
