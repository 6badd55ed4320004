package sonde.symbol.files;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import sonde.symbol.files.Attempt.AttemptResult;

/**
 * One file over HTTP. A thread of its own reads it: whatever a server does, whoever asked goes on
 * when the time is over.
 */
final class Download {
    private static final int REDIRECT_LIMIT = 5;
    private static final int STALL_BYTES = 100_000;
    private static final int LONGEST_WAIT_MILLIS = 30_000;

    private final URI from;
    private final Path to;
    private final Debuginfod.Bounds bounds;
    private final long deadline;
    private final AtomicReference<@Nullable HttpURLConnection> open = new AtomicReference<>();
    private volatile boolean abandoned;

    private Download(URI from, Path to, Debuginfod.Bounds bounds) {
        this.from = from;
        this.to = to;
        this.bounds = bounds;
        this.deadline = System.nanoTime() + bounds.whole().toNanos();
    }

    static Download of(URI from, Path to, Debuginfod.Bounds bounds) {
        return new Download(from, to, bounds);
    }

    /** Fetches into the file; FOUND when all of it is there. */
    Attempt run() {
        AtomicReference<@Nullable Attempt> result = new AtomicReference<>();
        Thread reader =
                Thread.ofPlatform().daemon().name("debuginfod").start(() -> result.set(attempt()));
        try {
            boolean ended = reader.join(java.time.Duration.ofNanos(deadline - System.nanoTime()));
            Attempt attempt = result.get();
            if (ended && attempt != null) {
                return attempt;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        abandon();
        return refused("no end after " + bounds.whole().toSeconds() + " seconds");
    }

    private void abandon() {
        abandoned = true;
        HttpURLConnection connection = open.get();
        if (connection != null) {
            // Closing may wait for the reader: not here.
            Thread.ofPlatform().daemon().start(connection::disconnect);
        }
    }

    private Attempt refused(String why) {
        return new Attempt(from.toString(), AttemptResult.REFUSED, why);
    }

    private Attempt attempt() {
        try {
            return follow();
        } catch (IOException | RuntimeException e) {
            String why = e.getMessage();
            return refused(why == null ? e.toString() : why);
        } finally {
            HttpURLConnection connection = open.get();
            if (connection != null) {
                connection.disconnect();
            }
        }
    }

    private Attempt follow() throws IOException {
        URI next = from;
        for (int i = 0; i <= REDIRECT_LIMIT; i++) {
            HttpURLConnection connection = (HttpURLConnection) next.toURL().openConnection();
            open.set(connection);
            int wait = (int) Math.min(LONGEST_WAIT_MILLIS, bounds.stall().toMillis());
            connection.setConnectTimeout(wait);
            connection.setReadTimeout((int) Math.min(1 << 30, bounds.stall().toMillis()));
            connection.setInstanceFollowRedirects(false);
            connection.setUseCaches(false);
            connection.setRequestProperty("User-Agent", "sonde");
            connection.setRequestProperty("Accept-Encoding", "identity");
            int status = connection.getResponseCode();
            if (status / 100 == 3) {
                String location = connection.getHeaderField("Location");
                connection.disconnect();
                if (location == null) {
                    return refused("a redirect to nowhere");
                }
                next = next.resolve(location);
                String scheme = String.valueOf(next.getScheme()).toLowerCase(Locale.ROOT);
                boolean secure = from.getScheme().equalsIgnoreCase("https");
                if (!scheme.equals("https") && (secure || !scheme.equals("http"))) {
                    return refused("a redirect to " + scheme + ":");
                }
                continue;
            }
            if (status == HttpURLConnection.HTTP_NOT_FOUND) {
                return new Attempt(from.toString(), AttemptResult.ABSENT, "");
            }
            return status == HttpURLConnection.HTTP_OK
                    ? save(connection)
                    : refused("status " + status);
        }
        return refused("more than " + REDIRECT_LIMIT + " redirects");
    }

    private Attempt save(HttpURLConnection connection) throws IOException {
        long stated = connection.getContentLengthLong();
        if (stated > bounds.sizeBytes()) {
            return refused(stated + " bytes, more than " + bounds.sizeBytes());
        }
        long total = 0;
        try (InputStream in = connection.getInputStream();
                OutputStream out = Files.newOutputStream(to)) {
            byte[] step = new byte[1 << 16];
            long stallNanos = bounds.stall().toNanos();
            long since = System.nanoTime();
            long atLast = 0;
            int count = in.read(step);
            while (count >= 0) {
                if (abandoned) {
                    return refused("given up");
                }
                total += count;
                if (total > bounds.sizeBytes()) {
                    return refused("more than " + bounds.sizeBytes() + " bytes");
                }
                out.write(step, 0, count);
                if (total - atLast >= STALL_BYTES) {
                    atLast = total;
                    since = System.nanoTime();
                } else if (System.nanoTime() - since > stallNanos) {
                    long seconds = TimeUnit.NANOSECONDS.toSeconds(stallNanos);
                    return refused("less than 100 KB in " + seconds + " seconds");
                }
                count = in.read(step);
            }
        }
        return stated >= 0 && total != stated
                ? refused("it broke off after " + total + " of " + stated + " bytes")
                : new Attempt(from.toString(), AttemptResult.FOUND, "");
    }
}
