package io.penstock.disagg;

import io.penstock.check.Checksum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// What a transfer costs while a prefill rank keeps the blocks of no other request, and of a million: the times of
/// opening a request, moving a shard with its checksum, and the end of the lease. Rounds of both take turns, in real
/// time, with a wheel whose timers fire.
///
/// `mvn -Pjmh -pl pipeline -am verify -Djmh.main=io.penstock.disagg.TrackedRequestsComparison
/// -Djmh.args="10 1000000 1024"`: rounds, tracked requests, KiB of a shard.
public final class TrackedRequestsComparison {
  private static final int TRANSFERS = 4_000;
  private static final RankId RECEIVER = new RankId("decode", 0);
  private static final int SLICES = 4;

  private final MemorySegment source;
  private final MemorySegment destination;
  private final PrefillRequests requests;
  private long number;
  private int sum;

  private TrackedRequestsComparison(int tracked, int bytes, Scheduler timers) {
    source = Arena.global().allocate(bytes);
    destination = Arena.global().allocate(bytes);
    // leases of 30 s: each second a thirtieth of the timers comes up, and is renewed
    requests = new PrefillRequests(LifecycleOptions.defaults().withPatience(Duration.ofSeconds(30),
        Duration.ofSeconds(30), Duration.ofSeconds(30)).withRemembered(Duration.ofSeconds(1)),
        LifecycleListener.noop(), timers);
    for (int i = 0; i < tracked; i++) {
      requests.open("tracked-" + i, Set.of(RECEIVER), HeldBlocks.none());
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
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 10;
    int tracked = args.length > 1 ? Integer.parseInt(args[1]) : 1_000_000;
    int bytes = (args.length > 2 ? Integer.parseInt(args[2]) : 1024) << 10;
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

  private static void print(String what, double[] none, double[] many) {
    double before = none[none.length / 2];
    double after = many[many.length / 2];
    System.out.printf("%-24s none tracked %.2f, many tracked %.2f: %+.1f %%%n", what, before, after,
        100 * (after / before - 1));
  }
}
