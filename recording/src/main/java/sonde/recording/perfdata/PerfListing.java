package sonde.recording.perfdata;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import sonde.event.Source;
import sonde.recording.ftrace.CodeNames;
import sonde.recording.ftrace.EventJson;
import sonde.recording.ftrace.EventText;
import sonde.recording.ftrace.FieldText;
import sonde.recording.ftrace.ListingRequest;
import sonde.recording.ftrace.ListingStyle;
import sonde.recording.ftrace.PageLayout;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.TextContext;

/** A perf.data by itself is told as perf script tells it; in a bundle it stands among others. */
record PerfListing(PerfDataRecording recording) implements ListingStyle {
    @Override
    public boolean showsSamplesOnly() {
        return true;
    }

    @Override
    public RowText text(Source of, ListingRequest request) throws IOException {
        TextContext context = context(request);
        if (!request.isAlone()) {
            EventText text = new EventText(of, context, request.threads(), request.addresses());
            if (of.types().stream().anyMatch(request::isStacked)) {
                text.withStacks(request.code(), request::isStacked);
            }
            return request.styled(text, 0);
        }
        CodeNames code = ScriptText.namesCode(recording) ? request.code() : CodeNames.NONE;
        return new ScriptText(recording, context, code, request.fields());
    }

    @Override
    public RowText json(Source of, ListingRequest request) throws IOException {
        return new EventJson(of, context(request), request.threads(), request.addresses());
    }

    @Override
    public FieldText.Details details(Source of, ListingRequest request) {
        EventText text = new EventText(of, context(request), request.threads());
        return request.styled(text, 0)::appendBody;
    }

    private TextContext context(ListingRequest request) {
        TracingData tracing = recording.features().tracingData().orElse(null);
        byte[] printk = {};
        PageLayout layout = PageLayout.NATIVE;
        if (tracing != null) {
            printk = tracing.printk().getBytes(StandardCharsets.UTF_8);
            int longBytes = tracing.longBytes() == 4 ? 4 : 8;
            layout = new PageLayout(recording.order(), longBytes, 8 + longBytes);
        }
        return TextContext.of(layout, request::kallsyms, printk);
    }
}
