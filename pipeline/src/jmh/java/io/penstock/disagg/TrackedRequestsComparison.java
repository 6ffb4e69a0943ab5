package io.penstock.disagg;

import io.penstock.check.Checksum;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.Signal;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// What a transfer costs while a prefill rank keeps the blocks of no other request, and of a million: the times of
/// opening a request, moving a shard with its checksum, and the end of the lease. Rounds of both take turns, in real
/// time. The tracked requests are opened over 10 s, and renewed: so in the 10 s that follow, a tenth of their timers
/// comes up each second and is set anew, three times as many as leases of 30 s cause.
///
/// `mvn -Pjmh -pl pipeline -am verify -Djmh.main=io.penstock.disagg.TrackedRequestsComparison
/// -Djmh.include="20 1000000 256"`: rounds, tracked requests, KiB of a shard.
public final class TrackedRequestsComparison {
  private static final int TRANSFERS = 4_000;
  private static final RankId RECEIVER = new RankId("decode", 0);
  private static final int SLICES = 4;
  private static final Duration SETUP = Duration.ofSeconds(10);

  private final MemorySegment source;
  private final MemorySegment destination;
  private final PrefillConnector requests;
  private long number;
  private int sum;

  private TrackedRequestsComparison(int tracked, int bytes, Scheduler timers) {
    source = Arena.global().allocate(bytes);
    destination = Arena.global().allocate(bytes);
    requests = new PrefillConnector(new LifecycleOptions(
        new LifecycleOptions.Lease(Duration.ofSeconds(30), Duration.ofMinutes(30), Duration.ofSeconds(1)),
        new LifecycleOptions.Patience(SETUP, SETUP, SETUP, SETUP), LifecycleOptions.defaults().signals(),
        Duration.ofMillis(100)), LifecycleListener.noop(), timers);
    long begin = System.nanoTime();
    for (int i = 0; i < tracked; i++) {
      String name = "tracked-" + i;
      requests.open(name, Set.of(RECEIVER), HeldBlocks.none());
      requests.accept(new Signal(Signal.Kind.RENEW, name, RECEIVER.since(1), 1)).subscribe();
      long due = begin + SETUP.toNanos() / tracked * i;
      if (i % 1000 == 0 && due > System.nanoTime()) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
    }
  }

  /// One transfer, and what it takes: in all, and for the tracking alone.
  private void transfer(long[] whole, long[] tracking, int at) {
    String name = "transfer-" + number++;
    long begin = System.nanoTime();
    requests.open(name, Set.of(RECEIVER), HeldBlocks.none());
    long outside = 0;
    long slice = source.byteSize() / SLICES;
    for (int i = 0; i < SLICES; i++) {
      long from = System.nanoTime();
      MemorySegment.copy(source, i * slice, destination, i * slice, slice);
      sum ^= Checksum.of(destination.asSlice(i * slice, slice));
      outside += System.nanoTime() - from;
      requests.moved(name);
    }
    requests.accept(new Signal(Signal.Kind.DONE, name, RECEIVER.since(1), 1)).subscribe();
    whole[at] = System.nanoTime() - begin;
    tracking[at] = whole[at] - outside;
  }

  private static long percentile(long[] values, double part) {
    Arrays.sort(values);
    return values[(int) (part * (values.length - 1))];
  }

  /// Runs the comparison.
  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 20;
    int tracked = args.length > 1 ? Integer.parseInt(args[1]) : 1_000_000;
    int bytes = (args.length > 2 ? Integer.parseInt(args[2]) : 256) << 10;
    Scheduler timers = Schedulers.newSingle("timers", true);
    TrackedRequestsComparison none = new TrackedRequestsComparison(0, bytes, timers);
    TrackedRequestsComparison many = new TrackedRequestsComparison(tracked, bytes, timers);
    double[][] medians = new double[4][rounds];
    long[] whole = new long[TRANSFERS];
    long[] tracking = new long[TRANSFERS];
    for (int round = -2; round < rounds; round++) { // two to warm up
      for (int side = 0; side < 2; side++) {
        TrackedRequestsComparison one = (side + round & 1) == 0 ? none : many;
        for (int i = 0; i < TRANSFERS; i++) {
          one.transfer(whole, tracking, i);
        }
        if (round >= 0) {
          int row = one.equals(none) ? 0 : 1;
          medians[row][round] = percentile(whole, 0.99) / 1e3;
          medians[2 + row][round] = percentile(tracking, 0.99) / 1e3;
        }
      }
    }
    for (double[] row : medians) {
      Arrays.sort(row);
    }
    print("transfer, p99 µs", medians[0], medians[1]);
    print("tracking alone, p99 µs", medians[2], medians[3]);
    System.out.printf("(%d tracked, %d transfers of %d KiB a round, sum %x)%n", many.requests.figures().held(),
        TRANSFERS,
        bytes >> 10, none.sum ^ many.sum);
    timers.dispose();
  }

  /// Medians of the rounds, and the best round, which other work on the machine disturbs least.
  private static void print(String what, double[] none, double[] many) {
    int middle = none.length / 2;
    System.out.printf("%-24s none tracked %.2f, many %.2f: %+.1f %%; best round %.2f, %.2f: %+.1f %%%n", what,
        none[middle], many[middle], 100 * (many[middle] / none[middle] - 1), none[0], many[0],
        100 * (many[0] / none[0] - 1));
  }
}
