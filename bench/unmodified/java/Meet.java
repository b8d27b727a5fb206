import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/** Threads that meet in all ways that Java has, over and over: what must be so is looked at each time. */
public class Meet {
    /** One round. It throws when something is not as it must be. */
    interface Round {
        void play() throws Exception;
    }

    static final int THREADS = 8;

    public static void main(String[] arguments) throws Exception {
        long each = Math.max(100_000_000L, Integer.parseInt(arguments[0]) * 1_000_000_000L / 10);
        play("monitors", each, Meet::monitors);
        play("wait and notify", each, Meet::waiting);
        play("volatile fields", each, Meet::stores);
        play("park and unpark", each, Meet::parking);
        play("locks and conditions", each, Meet::conditions);
        play("concurrent collections", each, Meet::collections);
        play("a pool that forks and joins", each, Meet::forking);
        play("barriers and phasers", each, Meet::barriers);
        play("interruption", each, Meet::interruption);
        play("the collector", each, Meet::garbage);
    }

    static void play(String what, long nanoseconds, Round round) throws Exception {
        long end = System.nanoTime() + nanoseconds, rounds = 0;
        do {
            round.play();
            rounds++;
        } while (System.nanoTime() < end);
        System.out.println(what + ": " + rounds + " rounds");
    }

    static void must(boolean so, String what) {
        if (!so)
            throw new AssertionError(what);
    }

    /** Runs it in so many threads. What one throws, the caller does. */
    static void together(int count, Round work) throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                try {
                    work.play();
                } catch (Throwable throwable) {
                    thrown.set(throwable);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads)
            thread.join();
        if (thrown.get() != null)
            throw new Exception(thrown.get());
    }

    static int shared;

    static void monitors() throws Exception {
        Object monitor = new Object();
        shared = 0;
        together(THREADS, () -> {
            for (int i = 0; i < 1000; i++)
                synchronized (monitor) {
                    shared++;
                }
        });
        must(shared == THREADS * 1000, "a monitor let two in: " + shared);
    }

    static void waiting() throws Exception {
        ArrayDeque<Integer> queue = new ArrayDeque<>();
        AtomicLong sum = new AtomicLong();
        AtomicInteger begun = new AtomicInteger();
        together(THREADS, () -> {
            boolean gives = begun.getAndIncrement() % 2 == 0;
            for (int i = 0; i < 200; i++)
                synchronized (queue) {
                    while (gives ? queue.size() == 4 : queue.isEmpty())
                        queue.wait();
                    if (gives)
                        queue.add(i);
                    else
                        sum.addAndGet(queue.remove());
                    queue.notifyAll();
                }
        });
        must(sum.get() == THREADS / 2 * 199 * 200 / 2, "what was given is not what was taken: " + sum);
    }

    static volatile int one, other;

    /** Of two threads that each write a field and then read the other's, one reads what was written. */
    static void stores() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        AtomicInteger begun = new AtomicInteger();
        int[] seen = new int[2];
        together(2, () -> {
            int who = begun.getAndIncrement();
            for (int i = 0; i < 100; i++) {
                barrier.await();
                if (who == 0) {
                    one = 1;
                    seen[0] = other;
                } else {
                    other = 1;
                    seen[1] = one;
                }
                barrier.await();
                must(seen[0] + seen[1] > 0, "neither saw what the other had written");
                barrier.await();
                one = other = 0;
            }
        });
    }

    static void parking() throws Exception {
        Thread caller = Thread.currentThread();
        AtomicInteger turn = new AtomicInteger();
        Thread thread = new Thread(() -> {
            for (int i = 0; i < 500; i++) {
                while (turn.get() != 2 * i + 1)
                    LockSupport.park();
                turn.incrementAndGet();
                LockSupport.unpark(caller);
            }
        });
        thread.start();
        for (int i = 0; i < 500; i++) {
            turn.incrementAndGet();
            LockSupport.unpark(thread);
            while (turn.get() != 2 * i + 2)
                LockSupport.parkNanos(1_000_000_000);
        }
        thread.join();
        must(turn.get() == 1000, "turns were lost");
    }

    static void conditions() throws Exception {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
        ReadWriteLock lock = new ReentrantReadWriteLock();
        Semaphore semaphore = new Semaphore(2);
        AtomicInteger begun = new AtomicInteger(), inside = new AtomicInteger();
        AtomicLong sum = new AtomicLong();
        long[] both = new long[2];
        together(THREADS, () -> {
            boolean gives = begun.getAndIncrement() % 2 == 0;
            for (int i = 0; i < 200; i++) {
                if (gives)
                    must(queue.offer(i, 60, TimeUnit.SECONDS), "a queue stays full");
                else
                    sum.addAndGet(queue.take());
                (gives ? lock.writeLock() : lock.readLock()).lock();
                if (gives)
                    both[1] = ++both[0];
                must(both[0] == both[1], "a reader saw half of what was written");
                (gives ? lock.writeLock() : lock.readLock()).unlock();
                semaphore.acquire();
                must(inside.incrementAndGet() <= 2, "a semaphore let three in");
                inside.decrementAndGet();
                semaphore.release();
            }
        });
        must(sum.get() == THREADS / 2 * 199 * 200 / 2, "what was given is not what was taken: " + sum);
    }

    static void collections() throws Exception {
        ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
        LongAdder adder = new LongAdder();
        together(THREADS, () -> {
            for (int i = 0; i < 1000; i++) {
                map.merge(i % 50, 1, Integer::sum);
                adder.increment();
            }
        });
        int all = map.values().stream().mapToInt(Integer::intValue).sum();
        must(all == THREADS * 1000 && adder.sum() == all, "additions were lost: " + all + ", " + adder);
    }

    static class Sum extends RecursiveTask<Long> {
        final int from, to;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Long compute() {
            if (to - from < 100)
                return java.util.stream.LongStream.range(from, to).sum();
            Sum low = new Sum(from, (from + to) / 2), high = new Sum((from + to) / 2, to);
            low.fork();
            return high.compute() + low.join();
        }
    }

    static void forking() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(4);
        must(pool.invoke(new Sum(0, 20_000)) == 19_999L * 20_000 / 2, "a pool lost a part");
        CompletableFuture<Integer> future = CompletableFuture.completedFuture(0);
        for (int i = 0; i < 50; i++)
            future = future.thenApplyAsync(value -> value + 1, pool);
        must(future.get(60, TimeUnit.SECONDS) == 50, "a stage was lost");
        pool.shutdown();
        must(pool.awaitTermination(60, TimeUnit.SECONDS), "a pool does not end");
    }

    static void barriers() throws Exception {
        Phaser phaser = new Phaser(THREADS);
        CountDownLatch latch = new CountDownLatch(THREADS);
        AtomicInteger arrived = new AtomicInteger();
        together(THREADS, () -> {
            for (int phase = 1; phase <= 20; phase++) {
                arrived.incrementAndGet();
                phaser.arriveAndAwaitAdvance();
                must(arrived.get() >= phase * THREADS, "a phase began too early");
                phaser.arriveAndAwaitAdvance();
            }
            latch.countDown();
            must(latch.await(60, TimeUnit.SECONDS), "a latch stays closed");
        });
        must(arrived.get() == 20 * THREADS, "some did not arrive");
    }

    static void interruption() throws Exception {
        AtomicInteger interrupted = new AtomicInteger();
        Object monitor = new Object();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int way = i % 4;
            Thread thread = new Thread(() -> {
                try {
                    if (way == 0)
                        Thread.sleep(60_000);
                    else if (way == 1)
                        synchronized (monitor) {
                            monitor.wait();
                        }
                    else if (way == 2)
                        new CountDownLatch(1).await();
                    else
                        while (!Thread.interrupted())
                            Thread.onSpinWait();
                    if (way == 3)
                        interrupted.incrementAndGet();
                } catch (InterruptedException exception) {
                    interrupted.incrementAndGet();
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads)
            thread.interrupt();
        for (Thread thread : threads)
            thread.join(60_000);
        must(interrupted.get() == THREADS, "of " + THREADS + " threads were interrupted " + interrupted);
    }

    /** All stop for it, wherever they are. */
    static void garbage() throws Exception {
        together(THREADS, () -> {
            List<byte[]> kept = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                byte[] bytes = new byte[10_000];
                bytes[i] = (byte) i;
                if (i % 10 == 0)
                    kept.add(bytes);
            }
            for (int i = 0; i < kept.size(); i++)
                must(kept.get(i)[i * 10] == (byte) (i * 10), "an object was changed");
        });
        System.gc();
    }
}
