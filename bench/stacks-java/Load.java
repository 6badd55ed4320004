import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Load for a number of seconds: {@code java Load compute|allocate|lock SECONDS}. */
public final class Load {
    static volatile long sink;

    interface Shape {
        double area();
    }

    record Square(double side) implements Shape {
        @Override
        public double area() {
            return side * side;
        }
    }

    record Circle(double radius) implements Shape {
        @Override
        public double area() {
            return radius * radius * Math.PI;
        }
    }

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    static double areas(Shape[] shapes) {
        double sum = 0;
        for (Shape shape : shapes) {
            sum += shape.area();
        }
        return sum;
    }

    static void compute() {
        Shape[] shapes = new Shape[1000];
        for (int i = 0; i < shapes.length; i++) {
            shapes[i] = i % 2 == 0 ? new Square(i) : new Circle(i);
        }
        sink += fibonacci(25);
        for (int i = 0; i < 1000; i++) {
            sink += (long) areas(shapes);
        }
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            words.add(Integer.toString(i * 7919 % 20_011));
        }
        Collections.sort(words);
        sink += words.hashCode();
    }

    static void allocate() {
        Map<String, List<byte[]>> kept = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            kept.computeIfAbsent("key " + i % 997, any -> new ArrayList<>()).add(new byte[i % 300]);
        }
        sink += kept.size();
    }

    private static final Object LOCK = new Object();
    private static final Map<Integer, Integer> SHARED = new HashMap<>();

    static void lock() {
        for (int i = 0; i < 20_000; i++) {
            synchronized (LOCK) {
                SHARED.merge(i % 100, 1, Integer::sum);
            }
        }
    }

    static void run(String kind, long end) {
        while (System.nanoTime() < end) {
            switch (kind) {
                case "compute" -> compute();
                case "allocate" -> allocate();
                default -> lock();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < (args[0].equals("lock") ? 4 : 1); i++) {
            Thread thread = new Thread(() -> run(args[0], end), "load" + i);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(sink);
    }
}
