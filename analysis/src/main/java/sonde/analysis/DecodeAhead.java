package sonde.analysis;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator.Mergeable;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.ReadRows;

/**
 * Decodes lanes before their rows are asked for, and shows every batch whole to the operators that
 * need no order. Lane i belongs to decoder i mod n; a decoder keeps {@link #DEPTH} batches of each
 * of its lanes ready. Batches are retained and released by their decoder alone.
 */
final class DecodeAhead implements AutoCloseable {
    private static final int DEPTH = 2;

    /** What a queue carries: a batch, the end, or why there is no more. */
    private record DecodedItem(@Nullable Batch batch, @Nullable Throwable failure) {}

    private final List<Lane> lanes;
    private final List<Operator> operators;
    private final List<LaneDecoder> decoders = new ArrayList<>();
    private final List<BlockingQueue<DecodedItem>> ready = new ArrayList<>();
    private final List<Queue<Batch>> used = new ArrayList<>();
    private final @Nullable Batch[] current;
    private volatile boolean closed;

    DecodeAhead(List<Lane> lanes, List<Operator> operators, int threads) {
        this.lanes = lanes;
        this.operators = operators;
        current = new Batch[lanes.size()];
        for (int i = 0; i < lanes.size(); i++) {
            ready.add(new ArrayBlockingQueue<>(DEPTH + 1));
            used.add(new ConcurrentLinkedQueue<>());
        }
        for (int i = 0; i < Math.min(threads, lanes.size()); i++) {
            decoders.add(new LaneDecoder(i));
        }
        int count = decoders.size();
        decoders.forEach(decoder -> decoder.start(count));
    }

    int lanes() {
        return lanes.size();
    }

    /** The next batch of a lane, null at its end; ends the validity of the one before. */
    @Nullable Batch next(int lane) throws IOException {
        if (decoders.isEmpty()) {
            Batch batch = lanes.get(lane).next();
            if (batch != null) {
                ReadRows.add(batch);
                show(batch, operators);
            }
            return batch;
        }
        LaneDecoder decoder = decoders.get(lane % decoders.size());
        Batch before = current[lane];
        if (before != null) {
            used.get(lane).add(before);
        }
        decoder.wanted.release();
        DecodedItem item = take(lane);
        current[lane] = item.batch;
        if (item.failure instanceof IOException failure) {
            throw failure;
        } else if (item.failure instanceof InternalError fault) {
            throw fault;
        } else if (item.failure != null) {
            throw new IllegalStateException("decoding failed", item.failure);
        }
        return item.batch;
    }

    private DecodedItem take(int lane) throws IOException {
        try {
            return ready.get(lane).take();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while decoding", interrupted);
        }
    }

    /** Adds the decoders' copies of the operators to the operators; all lanes must have ended. */
    void mergeOperators() {
        for (LaneDecoder decoder : decoders) {
            decoder.join();
            for (int i = 0; i < operators.size(); i++) {
                merge(operators.get(i), decoder.copies.get(i));
            }
        }
    }

    @SuppressWarnings("unchecked") // fresh() gave an operator of the same kind
    private static <O extends Mergeable<O>> void merge(Operator into, Operator from) {
        ((O) into).merge((O) from);
    }

    private static void show(Batch batch, List<? extends Operator> operators) {
        for (Operator operator : operators) {
            operator.accept(batch, 0, batch.size());
        }
    }

    @Override
    public void close() {
        closed = true;
        for (LaneDecoder decoder : decoders) {
            decoder.wanted.release();
            decoder.join();
        }
    }

    /** A thread that fills the queues of its lanes. */
    private final class LaneDecoder implements Runnable {
        private final int number;
        private final Semaphore wanted = new Semaphore(0);
        private final List<Operator> copies = new ArrayList<>();
        private @Nullable Thread thread;
        private int stride;

        LaneDecoder(int number) {
            this.number = number;
        }

        void start(int count) {
            stride = count;
            for (Operator operator : operators) {
                Operator copy = ((Mergeable<?>) operator).fresh();
                lanes.stream().map(Lane::source).distinct().forEach(copy::select);
                copies.add(copy);
            }
            Thread started = new Thread(this, "decode-" + number);
            started.setDaemon(true);
            thread = started;
            started.start();
        }

        void join() {
            boolean interrupted = false;
            Thread running = thread;
            while (running != null && running.isAlive()) {
                try {
                    running.join();
                } catch (InterruptedException exception) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void run() {
            boolean[] ended = new boolean[lanes.size()];
            int open = 0;
            for (int i = number; i < lanes.size(); i += stride) {
                open++;
            }
            while (open > 0 && !closed) {
                wanted.drainPermits();
                boolean idle = true;
                for (int i = number; i < lanes.size(); i += stride) {
                    if (!ended[i] && ready.get(i).size() < DEPTH) {
                        idle = false;
                        ended[i] = !fill(i);
                        open -= ended[i] ? 1 : 0;
                    }
                }
                if (idle) {
                    wanted.acquireUninterruptibly();
                }
            }
        }

        /** Decodes one batch; false when the lane has ended. */
        private boolean fill(int lane) {
            for (Batch batch = used.get(lane).poll();
                    batch != null;
                    batch = used.get(lane).poll()) {
                batch.release();
            }
            try {
                Batch batch = lanes.get(lane).next();
                if (batch != null) {
                    ReadRows.add(batch);
                    show(batch, copies);
                    batch.retain();
                }
                return ready.get(lane).add(new DecodedItem(batch, null)) && batch != null;
            } catch (IOException | RuntimeException | Error failure) {
                ready.get(lane).add(new DecodedItem(null, failure));
                return false;
            }
        }
    }
}
