package sonde.view;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import sonde.event.result.CallChains;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Frame;
import sonde.event.result.Histogram;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.Unit;

/** Small results of every kind. */
final class Examples {
    /** What a hostile program may call itself. */
    static final String HOSTILE = "a\033]0;x\007\nb\u202etxt\u0085\ud800</script>";

    private Examples() {}

    static Table calls() {
        return new Table(
                "System calls",
                List.of(
                        Column.text("call"),
                        Column.count("count"),
                        Column.nanos("total"),
                        new Column("share of wall", Unit.SHARE),
                        new Column("first address", Unit.ADDRESS)),
                List.of(
                        List.of("read", 1_234_567L, 5_600_000L, 0.123, 0xffffffff81000000L),
                        List.of("futex", 12L, 2_345_678_901L, 0.8, 0x400000L),
                        Arrays.asList("exit_group", 1L, null, null, null)));
    }

    static CallTree tree() {
        CallTree.Node root = new CallTree.Node(Frame.label("all"));
        CallTree.Node main =
                root.child(Frame.label("worker 12"))
                        .child(new Frame("_start", "/bin/w", Frame.Kind.USER))
                        .child(new Frame("main", "/bin/w", Frame.Kind.USER));
        main.child(new Frame("parse", "/bin/w", Frame.Kind.USER)).add(600_000_000, 600);
        main.child(new Frame("emit", "/bin/w", Frame.Kind.USER))
                .child(new Frame("write", "libc.so.6", Frame.Kind.USER))
                .child(new Frame("ksys_write", "[kernel]", Frame.Kind.KERNEL))
                .add(397_000_000, 397);
        main.child(new Frame("rare", "/bin/w", Frame.Kind.USER)).add(2_000_000, 2);
        main.child(new Frame("rarer", "/bin/w", Frame.Kind.USER)).add(1_000_000, 1);
        return new CallTree("On CPU", Unit.NANOS, root);
    }

    static Histogram histogram() {
        return new Histogram(
                "Run queue latency",
                Unit.NANOS,
                List.of(
                        new Histogram.Bucket(1024, 2048, 10),
                        new Histogram.Bucket(2048, 4096, 1000),
                        new Histogram.Bucket(4096, 8192, 0),
                        new Histogram.Bucket(8192, 16384, 333)));
    }

    static Timeline timeline() {
        return new Timeline(
                "Threads",
                1_000,
                2_000,
                List.of("running", "runnable", "sleeping"),
                List.of(
                        new TimelineRow(
                                "main 1",
                                1,
                                1,
                                new long[] {1000, 1500, 1600},
                                new long[] {1500, 1600, 2000},
                                new byte[] {0, 1, 2}),
                        new TimelineRow(
                                "late 2",
                                1,
                                2,
                                new long[] {1750},
                                new long[] {2000},
                                new byte[] {0})),
                new CallChains(List.of(), new int[0], new int[0]),
                List.of());
    }

    static Report report() {
        return new Report(
                "sleepy (pid 12)",
                List.of("It ran 0.2 s of 1.0 s.", "80.0 % of the time it slept in futex."),
                List.of(calls(), histogram()));
    }

    static String text(Result result, TerminalStyle style) {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            new TextRenderer().render(result, out, style);
            return out.toString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String json(Result result) {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            new JsonRenderer().render(result, out);
            return out.toString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
