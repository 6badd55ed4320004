package sonde.view;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import sonde.assets.Assets;
import sonde.event.result.Report;
import sonde.event.result.Timeline;

/**
 * One self-contained page that a browser opens from a file: it fetches nothing, and its
 * Content-Security-Policy (CSP level 3) allows only the one script and style sheet whose hashes it
 * states. Everything recorded lies in it as base64 of gzip, and reaches the document as text nodes
 * and canvas text alone.
 */
public final class HtmlRenderer {
    private static final Pattern HOLE = Pattern.compile("\\{\\{(\\w+)}}");

    /** A renderer; it holds nothing. */
    public HtmlRenderer() {}

    /**
     * Writes the page and flushes; {@code out} stays open.
     *
     * @param report title, sentences and tables of the whole recording
     * @param timeline threads, stacks and samples, which follow the selected range
     */
    public void write(Report report, Timeline timeline, OutputStream out) throws IOException {
        String script = Assets.script();
        String style = Assets.text("style.css");
        String template = Assets.text("page.html");
        Matcher hole = HOLE.matcher(template);
        int at = 0;
        while (hole.find()) {
            text(out, template.substring(at, hole.start()));
            switch (hole.group(1)) {
                case "policy" -> text(out, policy(script, style));
                case "title" -> text(out, markup(report.title()));
                case "style" -> text(out, style);
                case "script" -> text(out, script);
                case "data" -> data(report, timeline, out);
                default -> throw new IllegalStateException("page.html: " + hole.group());
            }
            at = hole.end();
        }
        text(out, template.substring(at));
        out.flush();
    }

    private static void data(Report report, Timeline timeline, OutputStream out)
            throws IOException {
        OutputStream base64 = Base64.getEncoder().wrap(new StaysOpen(out));
        try (OutputStream gzip = new GZIPOutputStream(base64, 1 << 16)) {
            new PageContent(report, timeline).write(gzip);
        }
    }

    private static String policy(String script, String style) {
        return ("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:;"
                        + " base-uri 'none'; form-action 'none'")
                .formatted(hash(script), hash(style));
    }

    private static String hash(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] sum = digest.digest(text.getBytes(StandardCharsets.UTF_8));
            return "sha256-" + Base64.getEncoder().encodeToString(sum);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static String markup(String text) {
        return TextEscape.line(text).replace("&", "&amp;").replace("<", "&lt;");
    }

    private static void text(OutputStream out, String text) throws IOException {
        out.write(TextEscape.wellFormed(text).getBytes(StandardCharsets.UTF_8));
    }
}
