import java.util.ArrayList;
import java.util.List;

/** Virtual threads that sleep twenty calls below their task, and compute in each call afterwards. */
final class Virtual {
    static volatile long sink;

    static void spin() {
        long sum = 0;
        for (int i = 0; i < 3000; i++) {
            sum += sum ^ i * 31;
        }
        sink += sum;
    }

    static void level(int depth) throws InterruptedException {
        if (depth == 0) {
            Thread.sleep(1);
        } else {
            level(depth - 1);
        }
        spin();
    }

    static void task(long end) {
        try {
            while (System.nanoTime() < end) {
                level(20);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            all.add(Thread.ofVirtual().start(() -> task(end)));
        }
        for (Thread one : all) {
            one.join();
        }
    }
}
