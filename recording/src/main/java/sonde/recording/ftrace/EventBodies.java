package sonde.recording.ftrace;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.recording.ftrace.EventBody.PrintedBody;
import sonde.recording.ftrace.PrintExpression.PayloadArray;

/** Which events have a text of their own, in the form of libtraceevent's plugins. */
final class EventBodies {
    private static final PackedText STACK = PackedText.of("<stack trace >\n");
    private static final PackedText FRAME = PackedText.of("=> ");

    private static final Pattern STATE =
            Pattern.compile("\\{\\s*(0x[0-9a-fA-F]+|\\d+)\\s*,\\s*\"(\\S)[^\"]*\"\\s*\\}");
    // Before kernel 2.6.35 the format did not say: fs/proc/array.c task_state_array.
    private static final String OLD_STATES = "SDTtXZPI";

    private EventBodies() {}

    static EventBody of(EventType type, List<EventType> types, TextContext context) {
        PrintFmt format = PrintFmt.of(type, context);
        EventBody plain = new PrintedBody(format);
        EventBody special =
                switch (type.qualifiedName()) {
                    case "sched:sched_switch" -> schedSwitch(type);
                    case "sched:sched_wakeup", "sched:sched_wakeup_new" -> wakeup(type);
                    case "ftrace:function", "ftrace:func_repeats" -> FunctionBody.of(type, context);
                    case "ftrace:kernel_stack" -> kernelStack(type, context);
                    case "ftrace:raw_data" -> rawData(type);
                    case "ftrace:bprint" -> BinaryPrint.body(type, context);
                    case "ftrace:bputs" -> bputs(type, context);
                    case "ftrace:funcgraph_entry",
                            "ftrace:fgraph_retaddr_entry",
                            "ftrace:funcgraph_exit" ->
                            GraphBody.of(type, types, context);
                    case "timer:hrtimer_expire_entry", "timer:hrtimer_start" ->
                            hrtimer(type, context);
                    case "kmem:kfree",
                            "kmem:kmalloc",
                            "kmem:kmalloc_node",
                            "kmem:kmem_cache_alloc",
                            "kmem:kmem_cache_alloc_node",
                            "kmem:kmem_cache_free" ->
                            callSite(type, context, format);
                    case EventType.PERF_RECORD + ":mmap2" -> PerfBodies.mapping(type);
                    default -> null;
                };
        return special == null ? plain : special;
    }

    /** By the print format alone, as perf does. */
    static EventBody plain(EventType type, TextContext context) {
        return new PrintedBody(PrintFmt.of(type, context));
    }

    static @Nullable IntegerField integer(EventType type, String name) {
        Field field = type.field(name).orElse(null);
        return field != null && field.kind() == Field.Kind.INTEGER ? IntegerField.of(field) : null;
    }

    static @Nullable PayloadArray place(EventType type, String name) {
        Field field = type.field(name).orElse(null);
        return field == null ? null : new PayloadArray(field, 1, false);
    }

    private static void comm(TextBuffer out, Batch batch, int row, @Nullable PayloadArray comm) {
        if (comm != null) {
            out.text(batch, row, comm.offset(batch, row), comm.sizeBytes(batch, row)).put(':');
        }
    }

    private static @Nullable EventBody schedSwitch(EventType type) {
        IntegerField prevPid = integer(type, "prev_pid");
        IntegerField prevPrio = integer(type, "prev_prio");
        IntegerField prevState = integer(type, "prev_state");
        IntegerField nextPid = integer(type, "next_pid");
        IntegerField nextPrio = integer(type, "next_prio");
        if (prevPid == null
                || prevPrio == null
                || prevState == null
                || nextPid == null
                || nextPrio == null) {
            return null;
        }
        PayloadArray prevComm = place(type, "prev_comm");
        PayloadArray nextComm = place(type, "next_comm");
        char[] states = states(type.printFormat());
        return EventBody.of((out, batch, row) -> {
            long prev = prevPid.of(batch, row);
            comm(out, batch, row, prevComm);
            out.decimal(prev).put(' ').put('[');
            out.decimal((int) prevPrio.of(batch, row)).put(']').put(' ');
            state(out, prevState.of(batch, row), states);
            out.put(" ==> ");
            long next = nextPid.of(batch, row);
            comm(out, batch, row, nextComm);
            out.decimal(next).put(' ').put('[');
            out.decimal((int) nextPrio.of(batch, row)).put(']');
        });
    }

    /** The letter of each bit of prev_state, from the flags in the print format. */
    private static char[] states(String printFormat) {
        char[] states = new char[32];
        boolean some = false;
        int flags = printFormat.indexOf("__print_flags");
        if (flags >= 0) {
            Matcher matcher = STATE.matcher(printFormat);
            while (matcher.find()) {
                String digits = matcher.group(1);
                if (digits.length() <= 10) {
                    int bit = Long.numberOfTrailingZeros(Long.decode(digits));
                    if (bit < states.length) {
                        states[bit] = matcher.group(2).charAt(0);
                        some = true;
                    }
                }
            }
        }
        return some ? states : java.util.Arrays.copyOf(OLD_STATES.toCharArray(), 32);
    }

    private static void state(TextBuffer out, long state, char[] states) {
        boolean some = false;
        // A gap in the letters ends them, as in a C string.
        for (int bit = 0; bit < states.length && states[bit] != 0; bit++) {
            if ((state >> bit & 1) != 0) {
                if (some) {
                    out.put('|');
                }
                out.put(states[bit]);
                some = true;
            }
        }
        if (!some) {
            out.put('R');
        }
    }

    private static @Nullable EventBody wakeup(EventType type) {
        IntegerField pid = integer(type, "pid");
        if (pid == null) {
            return null;
        }
        PayloadArray comm = place(type, "comm");
        IntegerField prio = integer(type, "prio");
        IntegerField success = integer(type, "success");
        IntegerField cpu = integer(type, "target_cpu");
        return EventBody.of((out, batch, row) -> {
            long tid = pid.of(batch, row);
            comm(out, batch, row, comm);
            out.decimal(tid);
            if (prio != null) {
                out.put(' ').put('[').decimal(prio.of(batch, row)).put(']');
            }
            if (success != null) {
                out.put(" success=").decimal(success.of(batch, row));
            }
            if (cpu != null) {
                out.put(" CPU:").digits(Math.max(0, cpu.of(batch, row)), 3);
            }
        });
    }

    private static @Nullable EventBody kernelStack(EventType type, TextContext context) {
        Field caller = type.field("caller").orElse(null);
        if (caller == null) {
            return null;
        }
        int longBytes = context.longBytes();
        PayloadArray place = new PayloadArray(caller, longBytes, false);
        KallsymsIndex symbols = context.symbols();
        return EventBody.of((out, batch, row) -> {
            out.put(STACK);
            // caller[8] is a minimum: the trace runs to the end of the record.
            int at = place.offset(batch, row);
            int end = batch.payloadBytes(row);
            for (; at + longBytes <= end; at += longBytes) {
                long address = PayloadArray.integer(batch, row, at, longBytes);
                if ((int) address == -1) {
                    break;
                }
                out.put(FRAME);
                if (symbols.appendNameAt(out, address)) {
                    out.put(' ').put('(').hex(address, 1).put(')');
                } else {
                    out.hex(address, 1);
                }
                out.put('\n');
            }
        });
    }

    private static @Nullable EventBody rawData(EventType type) {
        IntegerField id = integer(type, "id");
        Field buf = type.field("buf").orElse(null);
        if (id == null || buf == null) {
            return null;
        }
        return EventBody.of((out, batch, row) -> {
            out.put("# ").hex(id.of(batch, row) & 0xffff_ffffL, 1);
            for (int at = buf.offset(); at < batch.payloadBytes(row); at++) {
                out.put(' ').hex(batch.u8(row, at), 2);
            }
        });
    }

    /** {@code trace_puts} of a constant: the string lies in the kernel. */
    private static @Nullable EventBody bputs(EventType type, TextContext context) {
        IntegerField ip = integer(type, "ip");
        IntegerField str = integer(type, "str");
        if (ip == null || str == null) {
            return null;
        }
        return EventBody.of((out, batch, row) -> {
            function(out, context, ip.of(batch, row));
            out.put(": ");
            byte[] text = context.printk(str.of(batch, row));
            if (text != null) {
                out.put(text);
            } else {
                out.hex(str.of(batch, row), 1);
            }
        });
    }

    /** The function's name, or the address. */
    static void function(TextBuffer out, TextContext context, long address) {
        if (!context.symbols().appendNameAt(out, address)) {
            out.put("0x").hex(address, 1);
        }
    }

    private static @Nullable EventBody hrtimer(EventType type, TextContext context) {
        IntegerField timer = integer(type, "timer");
        IntegerField hrtimer = timer == null ? integer(type, "hrtimer") : timer;
        IntegerField function = integer(type, "function");
        IntegerField now = integer(type, "now");
        IntegerField expires = integer(type, "expires");
        IntegerField soft = integer(type, "softexpires");
        if (hrtimer == null || (now == null && (expires == null || soft == null))) {
            return null;
        }
        return EventBody.of((out, batch, row) -> {
            out.put("hrtimer=0x").hex(hrtimer.of(batch, row), 1);
            if (now != null) {
                out.put(" now=").unsigned(now.of(batch, row));
            }
            if (function != null) {
                out.put(" function=");
                long address = function.of(batch, row);
                int symbol = context.symbols().find(address);
                if (symbol < 0) {
                    out.put("0x").hex(address, 8);
                } else {
                    context.symbols().appendName(out, symbol);
                    long start = context.symbols().address(symbol);
                    out.put("/0x").hex(start - address, 1);
                }
            }
            if (expires != null && soft != null) {
                out.put(" expires=").unsigned(expires.of(batch, row));
                out.put(" softexpires=").unsigned(soft.of(batch, row));
            }
        });
    }

    private static @Nullable EventBody callSite(
            EventType type, TextContext context, PrintFmt format) {
        IntegerField callSite = integer(type, "call_site");
        if (callSite == null) {
            return null;
        }
        KallsymsIndex symbols = context.symbols();
        return EventBody.of((out, batch, row) -> {
            long address = callSite.of(batch, row);
            int symbol = symbols.find(address);
            if (symbol >= 0) {
                out.put('(');
                symbols.appendName(out, symbol);
                out.put("+0x").hex(address - symbols.address(symbol), 1).put(") ");
            }
            format.append(out, batch, row);
        });
    }
}
