package sonde.tools.explain;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A log that is still written: says when it pauses. A thread reads, for a read of a device cannot
 * be given up.
 */
final class LiveInput extends InputStream {
    private static final long PAUSE_MILLIS = 1000;
    private static final long RETRY_MILLIS = 200;
    private static final byte[] END = {};

    /** What to do when nothing came for a while. */
    interface Pause {
        void paused() throws IOException;
    }

    private final BlockingQueue<byte[]> read = new ArrayBlockingQueue<>(64);
    private final boolean follows;
    private final Pause pause;
    private byte[] bytes = {};
    private int at;
    private volatile @Nullable IOException failure;

    /**
     * @param follows whether the log goes on after a pause
     * @param grows whether its end is the end of a file that may grow
     */
    LiveInput(InputStream in, boolean follows, boolean grows, Pause pause) {
        this.follows = follows;
        this.pause = pause;
        Thread.ofPlatform().daemon().name("log").start(() -> copy(in, follows && grows));
    }

    private void copy(InputStream in, boolean grows) {
        byte[] buffer = new byte[1 << 16];
        try {
            while (true) {
                int count = record(in, buffer);
                if (count > 0) {
                    read.put(Arrays.copyOf(buffer, count));
                } else if (grows) {
                    Thread.sleep(RETRY_MILLIS);
                } else {
                    break;
                }
            }
        } catch (IOException e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        try {
            read.put(END);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** /dev/kmsg answers EPIPE where the next record was overwritten; the one after it follows. */
    private static int record(InputStream in, byte[] buffer) throws IOException {
        while (true) {
            try {
                return in.read(buffer, 0, buffer.length);
            } catch (IOException e) {
                if (!"Broken pipe".equals(e.getMessage())) {
                    throw e;
                }
            }
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        while (at == bytes.length) {
            byte[] next = next();
            if (next.length == 0) {
                IOException failed = failure;
                if (failed != null) {
                    throw failed;
                }
                return -1;
            }
            bytes = next;
            at = 0;
        }
        int count = Math.min(length, bytes.length - at);
        System.arraycopy(bytes, at, target, offset, count);
        at += count;
        return count;
    }

    private byte[] next() throws IOException {
        try {
            while (true) {
                byte[] next = read.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
                if (next != null) {
                    return next;
                }
                pause.paused();
                if (!follows) {
                    return END;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return END;
        }
    }
}
