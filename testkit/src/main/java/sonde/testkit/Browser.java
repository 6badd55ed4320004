package sonde.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Headless Chromium with one page, driven over the DevTools protocol. Real input events go through
 * the browser's own dispatch; console errors, exceptions and every request are kept.
 *
 * <pre>{@code
 * try (Browser browser = Browser.start(1280, 900)) {
 *     browser.open(page.toUri());
 *     browser.click(300, 400);
 *     assertThat(browser.evaluate("document.title")).isEqualTo("…");
 * }
 * }</pre>
 */
public final class Browser implements AutoCloseable {
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final int TIMEOUT_SECONDS = 60;
    private static final String LISTENING = "DevTools listening on ";

    private final Path profile;
    private final Process process;
    private final HttpClient http = HttpClient.newHttpClient();
    private final WebSocket socket;
    private final AtomicInteger lastId = new AtomicInteger();
    private final Map<Integer, CompletableFuture<Object>> answers = new ConcurrentHashMap<>();
    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private volatile CompletableFuture<Void> loaded = new CompletableFuture<>();

    private Browser(int width, int height) throws IOException {
        profile = Files.createTempDirectory("sonde-browser");
        process =
                new ProcessBuilder(
                                CHROMIUM.toString(),
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--disable-quic",
                                "--no-first-run",
                                "--disable-background-networking",
                                "--disable-component-update",
                                "--disable-sync",
                                "--hide-scrollbars",
                                "--remote-debugging-port=0",
                                "--user-data-dir=" + profile,
                                "--window-size=" + width + "," + height,
                                "about:blank")
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        try {
            URI page = pageSocket();
            socket = http.newWebSocketBuilder().buildAsync(page, new Messages()).join();
            for (String domain : List.of("Page", "Runtime", "Network", "Log")) {
                call(domain + ".enable", "{}");
            }
            call(
                    "Emulation.setDeviceMetricsOverride",
                    "{\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":false}"
                            .formatted(width, height));
        } catch (IOException | RuntimeException e) {
            end();
            throw e;
        }
    }

    /** Whether this machine has the browser; tests skip where not. */
    public static boolean isPresent() {
        return Files.isExecutable(CHROMIUM);
    }

    /** Starts one with an empty profile and a window of that many CSS pixels. */
    public static Browser start(int width, int height) throws IOException {
        return new Browser(width, height);
    }

    private URI pageSocket() throws IOException {
        BufferedReader lines = process.errorReader(StandardCharsets.UTF_8);
        String line = lines.readLine();
        while (line != null && !line.startsWith(LISTENING)) {
            line = lines.readLine();
        }
        if (line == null) {
            throw new IOException("chromium ended before it listened");
        }
        Thread.ofVirtual().start(() -> lines.lines().forEach(l -> {}));
        URI listening = URI.create(line.substring(LISTENING.length()).trim());
        URI list = URI.create("http://127.0.0.1:" + listening.getPort() + "/json/list");
        try {
            HttpRequest request = HttpRequest.newBuilder(list).build();
            String body = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
            for (Object target : (List<?>) Json.parse(body)) {
                if ("page".equals(Json.at(target, "type"))) {
                    return URI.create((String) Json.at(target, "webSocketDebuggerUrl"));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new IOException("chromium has no page");
    }

    /** Opens a page and waits for its load event. */
    public void open(URI page) {
        errors.clear();
        requests.clear();
        loaded = new CompletableFuture<>();
        call("Page.navigate", "{\"url\":" + quoted(page.toString()) + "}");
        loaded.orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
    }

    /**
     * The value of an expression; a promise is awaited. Numbers are Doubles, objects Maps.
     *
     * @throws IllegalStateException when it throws
     */
    public Object evaluate(String expression) {
        Object answer =
                call(
                        "Runtime.evaluate",
                        "{\"awaitPromise\":true,\"returnByValue\":true,\"expression\":"
                                + quoted(expression)
                                + "}");
        Object thrown = Json.at(answer, "exceptionDetails");
        if (thrown != null) {
            Object text = Json.at(thrown, "exception", "description");
            throw new IllegalStateException(expression + ": " + text);
        }
        return Json.at(answer, "result", "value");
    }

    /** Waits until an expression is true. */
    public void await(String condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!Boolean.TRUE.equals(evaluate("Boolean(" + condition + ")"))) {
            if (System.nanoTime() > end || !errors.isEmpty()) {
                throw new IllegalStateException("never became true: " + condition + " " + errors);
            }
            frame();
        }
    }

    /** Waits until what is pending has been drawn. */
    public void frame() {
        evaluate(
                "new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => f(1))))");
    }

    /** Errors on the console and uncaught exceptions since the page was opened. */
    public List<String> errors() {
        return List.copyOf(errors);
    }

    /** Addresses requested since the page was opened, its own included; no data: addresses. */
    public List<String> requests() {
        return List.copyOf(requests);
    }

    /** Makes the page believe that the user prefers "dark" or "light". */
    public void colourScheme(String scheme) {
        call(
                "Emulation.setEmulatedMedia",
                "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"}]}"
                        .formatted(scheme));
    }

    /** Writes what is seen as PNG. */
    public void screenshot(Path file) throws IOException {
        Object answer = call("Page.captureScreenshot", "{\"format\":\"png\"}");
        Files.write(file, Base64.getDecoder().decode((String) Json.at(answer, "data")));
    }

    /** Moves the pointer. */
    public void move(double x, double y) {
        mouse("mouseMoved", x, y, 0, "");
        frame();
    }

    /** Clicks. */
    public void click(double x, double y) {
        mouse("mouseMoved", x, y, 0, "");
        mouse("mousePressed", x, y, 1, "");
        mouse("mouseReleased", x, y, 1, "");
        frame();
    }

    /** Presses, moves in four steps, releases. */
    public void drag(double fromX, double fromY, double toX, double toY) {
        mouse("mouseMoved", fromX, fromY, 0, "");
        mouse("mousePressed", fromX, fromY, 1, "");
        for (int i = 1; i <= 4; i++) {
            double x = fromX + (toX - fromX) * i / 4;
            mouse("mouseMoved", x, fromY + (toY - fromY) * i / 4, 1, "");
        }
        mouse("mouseReleased", toX, toY, 1, "");
        frame();
    }

    /** Turns the wheel. */
    public void wheel(double x, double y, double by) {
        mouse("mouseWheel", x, y, 0, ",\"deltaX\":0,\"deltaY\":" + by);
        frame();
    }

    private void mouse(String type, double x, double y, int buttons, String more) {
        String button = buttons == 0 && !"mouseReleased".equals(type) ? "none" : "left";
        call(
                "Input.dispatchMouseEvent",
                ("{\"type\":\"%s\",\"x\":%s,\"y\":%s,"
                                + "\"button\":\"%s\",\"buttons\":%d,\"clickCount\":%d%s}")
                        .formatted(
                                type,
                                x,
                                y,
                                button,
                                "mouseReleased".equals(type) ? 0 : buttons,
                                buttons,
                                more));
    }

    /** Presses and releases a key by its DOM name ("Enter", "ArrowDown", "w"). */
    public void key(String key) {
        key(key, false);
    }

    /** Presses and releases a key, with Ctrl if told. */
    public void key(String key, boolean control) {
        boolean prints = key.length() == 1 && !control;
        String text = prints ? ",\"text\":" + quoted(key) : "Enter".equals(key) ? ENTER_TEXT : "";
        for (String type : List.of("keyDown", "keyUp")) {
            call(
                    "Input.dispatchKeyEvent",
                    "{\"type\":\"%s\",\"key\":%s,\"modifiers\":%d%s}"
                            .formatted(
                                    type,
                                    quoted(key),
                                    control ? 2 : 0,
                                    "keyDown".equals(type) ? text : ""));
        }
        frame();
    }

    private static final String ENTER_TEXT = ",\"text\":\"\\r\"";

    /** Types text where the focus is. */
    public void type(String text) {
        call("Input.insertText", "{\"text\":" + quoted(text) + "}");
        frame();
    }

    private Object call(String method, String parameters) {
        int id = lastId.incrementAndGet();
        CompletableFuture<Object> answer = new CompletableFuture<>();
        answers.put(id, answer);
        String message =
                "{\"id\":%d,\"method\":\"%s\",\"params\":%s}".formatted(id, method, parameters);
        socket.sendText(message, true).join();
        return answer.orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
    }

    private void take(Object message) {
        if (Json.at(message, "id") instanceof Double id) {
            CompletableFuture<Object> answer = answers.remove(id.intValue());
            Object error = Json.at(message, "error", "message");
            if (error == null) {
                answer.complete(Json.at(message, "result"));
            } else {
                answer.completeExceptionally(new IllegalStateException(error.toString()));
            }
            return;
        }
        Object parameters = Json.at(message, "params");
        switch (String.valueOf(Json.at(message, "method"))) {
            case "Page.loadEventFired" -> loaded.complete(null);
            case "Runtime.exceptionThrown" ->
                    errors.add(String.valueOf(Json.at(parameters, "exceptionDetails")));
            case "Runtime.consoleAPICalled" -> {
                if ("error".equals(Json.at(parameters, "type"))) {
                    errors.add(String.valueOf(Json.at(parameters, "args")));
                }
            }
            case "Log.entryAdded" -> errors.add(String.valueOf(Json.at(parameters, "entry")));
            case "Network.requestWillBeSent" -> {
                String address = String.valueOf(Json.at(parameters, "request", "url"));
                if (!address.startsWith("data:")) {
                    requests.add(address);
                }
            }
            default -> {}
        }
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\' || c < 0x20 || c > 0x7e) {
                out.append("\\u%04x".formatted((int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    @Override
    public void close() throws IOException {
        socket.abort();
        http.shutdownNow();
        end();
    }

    private void end() throws IOException {
        List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
        all.add(process.toHandle());
        all.forEach(ProcessHandle::destroyForcibly);
        all.forEach(handle -> handle.onExit().join());
        try (Stream<Path> files = Files.walk(profile)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    private final class Messages implements WebSocket.Listener {
        private final StringBuilder pending = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean isLast) {
            pending.append(part);
            if (isLast) {
                take(Json.parse(pending.toString()));
                pending.setLength(0);
            }
            from.request(1);
            return null;
        }
    }
}
