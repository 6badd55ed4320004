package sonde.tools.report.section;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sonde.analysis.slice.FunctionCalls;
import sonde.analysis.slice.FunctionCalls.CallLine;
import sonde.analysis.slice.FunctionCalls.CalledFunction;
import sonde.analysis.slice.FunctionCalls.CallerCount;
import sonde.analysis.slice.FunctionCalls.FunctionSum;
import sonde.analysis.slice.FunctionCalls.SlowCall;
import sonde.event.EventType;
import sonde.event.result.CallTree;
import sonde.event.result.Frame;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.event.result.Unit;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;
import sonde.view.NumberText;
import sonde.view.TextEscape;

/** Kernel functions that ftrace's tracers recorded. */
final class FunctionsSection implements ReportSection {
    /** The calls. */
    static final AnalysisKey<FunctionCalls> CALLS =
            new AnalysisKey<>(found -> {
                FunctionCalls calls =
                        new FunctionCalls(
                                found.threads(),
                                found.window(),
                                found::shown,
                                found.stacks()::function);
                return found.types().anyMatch(FunctionsSection::isCall) ? found.add(calls) : calls;
            });

    private static final int DEEPEST_SHOWN = 60;

    /** Beyond this the two clocks cannot both be right; the tracer itself takes some time. */
    private static final double MOST_RATIO = 1.5;

    private static boolean isCall(EventType type) {
        return switch (type.qualifiedName()) {
            case "ftrace:funcgraph_entry", "ftrace:fgraph_retaddr_entry", "ftrace:function" -> true;
            default -> false;
        };
    }

    @Override
    public List<String> options() {
        return List.of("--functions");
    }

    @Override
    public String help() {
        return "show the kernel functions that ftrace traced: calls, time, the slowest call";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(CALLS);
    }

    @Override
    public List<Result> results(ReportOperators found) {
        FunctionCalls calls = found.of(CALLS);
        int rows = found.options().rows();
        List<Result> results = new ArrayList<>();
        List<CallerCount> callers = calls.callers();
        if (!callers.isEmpty()) {
            results.add(
                    new TableBuilder<CallerCount>("function calls")
                            .text("function", CallerCount::function)
                            .text("called by", CallerCount::caller)
                            .count("calls", CallerCount::calls)
                            .table(callers, rows));
        }
        if (calls.root().callees().isEmpty()) {
            if (callers.isEmpty()) {
                results.add(functions(List.of(), rows));
            }
            return results;
        }
        results.add(functions(calls.sums(), rows));
        CallTree tree =
                new CallTree("function graph", Unit.NANOS, new CallTree.Node(Frame.label("all")));
        for (CalledFunction outermost : calls.root().callees()) {
            add(calls, outermost, tree.root());
        }
        results.add(tree);
        SlowCall slow = calls.slowest();
        if (slow != null) {
            results.add(slowest(found, slow, rows));
        }
        return results;
    }

    private static Table functions(List<FunctionSum> sums, int rows) {
        return new TableBuilder<FunctionSum>("functions")
                .text("function", FunctionSum::name)
                .count("calls", FunctionSum::calls)
                .nanos("own", FunctionSum::ownNanos)
                .nanos("total", FunctionSum::nanos)
                .nanos("mean", sum -> sum.calls() == 0 ? null : sum.nanos() / sum.calls())
                .nanos("longest", sum -> sum.calls() == 0 ? null : sum.longestNanos())
                .table(sums, rows);
    }

    private static void add(FunctionCalls calls, CalledFunction function, CallTree.Node above) {
        CallTree.Node node =
                above.child(new Frame(calls.name(function), "[kernel]", Frame.Kind.KERNEL));
        node.add(function.ownNanos(), function.calls());
        for (CalledFunction callee : function.callees()) {
            add(calls, callee, node);
        }
    }

    private static Result slowest(ReportOperators found, SlowCall slow, int rows) {
        List<CallLine> lines = slow.lines().subList(0, Math.min(rows, slow.lines().size()));
        long left = slow.left() + slow.lines().size() - lines.size();
        Table values =
                new TableBuilder<CallLine>("slowest call")
                        .count("depth", line -> (long) line.depth())
                        .text("function", CallLine::name)
                        .nanos("time", line -> line.nanos() < 0 ? null : line.nanos())
                        .table(slow.lines());
        return new TextLayout(
                values,
                out -> {
                    out.println("slowest call, in " + TextEscape.line(thread(found, slow)));
                    nested(out, lines, slow.cpu());
                    if (left > 0) {
                        out.println("  … and " + left + " more calls; --json has them");
                    }
                    out.println();
                });
    }

    private static String thread(ReportOperators found, SlowCall slow) {
        return slow.thread() < 0 ? "CPU " + slow.cpu() : found.threadName(slow.thread());
    }

    /** As the kernel prints it: a call without callees is one line, others end with a brace. */
    private static void nested(PrintWriter out, List<CallLine> lines, int cpu) {
        List<CallLine> open = new ArrayList<>();
        for (CallLine line : lines) {
            while (!open.isEmpty() && open.getLast().depth() >= line.depth()) {
                line(out, cpu, open.removeLast(), "}");
            }
            if (line.isLeaf()) {
                line(out, cpu, line, line.name() + "();");
            } else {
                line(out, cpu, new CallLine(line.depth(), "", -1, false), line.name() + "() {");
                open.add(line);
            }
        }
        while (!open.isEmpty()) {
            line(out, cpu, open.removeLast(), "}");
        }
    }

    private static void line(PrintWriter out, int cpu, CallLine line, String text) {
        long nanos = line.nanos();
        // Marks of kernel/trace/trace_output.c: more than 1 s, 100 ms, 10 ms, 1 ms, 100 us, 10 us.
        String mark =
                nanos > 1_000_000_000
                        ? "$ "
                        : nanos > 100_000_000
                                ? "@ "
                                : nanos > 10_000_000
                                        ? "* "
                                        : nanos > 1_000_000
                                                ? "# "
                                                : nanos > 100_000
                                                        ? "! "
                                                        : nanos > 10_000 ? "+ " : "  ";
        String time =
                nanos < 0
                        ? ""
                        : String.format(Locale.ROOT, "%d.%03d us", nanos / 1000, nanos % 1000);
        out.printf(
                Locale.ROOT,
                " %2d) %s%-11s |  %s%s%n",
                cpu,
                mark,
                time,
                "  ".repeat(Math.min(line.depth(), DEEPEST_SHOWN)),
                TextEscape.line(text));
    }

    @Override
    public List<String> answer(ReportOperators found) {
        FunctionCalls calls = found.of(CALLS);
        List<String> answer = new ArrayList<>();
        List<FunctionSum> sums = calls.sums().stream().filter(sum -> sum.calls() > 0).toList();
        long outermost = calls.root().callees().stream().mapToLong(CalledFunction::nanos).sum();
        if (!sums.isEmpty()) {
            FunctionSum most = sums.getFirst();
            answer.add(
                    "%s took most time of its own: %s of %s (%s), in %s."
                            .formatted(
                                    most.name(),
                                    nanos(most.ownNanos()),
                                    nanos(outermost),
                                    NumberText.share(
                                            most.ownNanos() / (double) Math.max(outermost, 1)),
                                    calls(most.calls())));
        }
        calls.root().callees().stream()
                .filter(one -> one.calls() > 0)
                .max((one, other) -> Long.compare(one.nanos(), other.nanos()))
                .ifPresent(one ->
                        answer.add(
                                "%s was called %s: %s together, %s each%s."
                                        .formatted(
                                                calls.name(one),
                                                times(one.calls()),
                                                nanos(one.nanos()),
                                                nanos(one.nanos() / one.calls()),
                                                longest(found, calls.slowest()))));
        callers(calls.callers(), answer);
        return answer;
    }

    private static String longest(ReportOperators found, @Nullable SlowCall slow) {
        return slow == null || slow.lines().isEmpty()
                ? ""
                : "; the longest outermost call was %s of %s, in %s"
                        .formatted(
                                slow.lines().getFirst().name(),
                                nanos(slow.nanos()),
                                thread(found, slow));
    }

    private static void callers(List<CallerCount> callers, List<String> answer) {
        if (callers.isEmpty()) {
            return;
        }
        CallerCount most = callers.getFirst();
        long functions = callers.stream().map(CallerCount::function).distinct().count();
        long all = callers.stream().mapToLong(CallerCount::calls).sum();
        long ofMost =
                callers.stream()
                        .filter(one -> one.function().equals(most.function()))
                        .mapToLong(CallerCount::calls)
                        .sum();
        boolean always = ofMost == most.calls();
        String from =
                always
                        ? "always from " + most.caller()
                        : "most often from " + most.caller() + " (" + most.calls() + ")";
        answer.add(
                functions == 1
                        ? "%s was called %s, %s.".formatted(most.function(), times(all), from)
                        : "%,d functions were called %s; %s most often (%,d), %s."
                                .formatted(functions, times(all), most.function(), ofMost, from));
    }

    @Override
    public List<String> notes(ReportOperators found) {
        FunctionCalls calls = found.of(CALLS);
        List<String> notes = new ArrayList<>();
        double ratio = calls.clockRatio();
        if (found.hasNanos() && (ratio > MOST_RATIO || ratio < 1 / MOST_RATIO)) {
            notes.add(
                    String.format(
                            Locale.ROOT,
                            "Do not trust the durations: the kernel measured them with a clock that"
                                    + " ran %.2g times as fast as that of the events.",
                            ratio));
        }
        long unfinished = calls.unfinished();
        if (unfinished > 0) {
            notes.add(
                    (unfinished == 1
                                    ? "1 call"
                                    : String.format(Locale.ROOT, "%,d calls", unfinished))
                            + " began before the recording, did not return in it, or lost an"
                            + " event: they are not in the times.");
        }
        return notes;
    }

    private static String nanos(long nanos) {
        return NumberText.text(Unit.NANOS, nanos, true);
    }

    private static String calls(long count) {
        return count == 1 ? "1 call" : String.format(Locale.ROOT, "%,d calls", count);
    }

    private static String times(long count) {
        return count == 1 ? "once" : String.format(Locale.ROOT, "%,d times", count);
    }
}
