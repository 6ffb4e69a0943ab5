package io.penstock.cluster.infinispan;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.infinispan.configuration.cache.StorageType;

/// Compares the directory with the bare cache in turns of a third of a second, so that the machine's other work meets
/// both alike: calls a second, processor time of a call, and medians of the ratios of neighbouring turns. Arguments:
/// kinds of storage (both). `mvn -Pjmh -pl rsocket-api/cluster -am verify
/// -Djmh.main=io.penstock.cluster.infinispan.DirectoryComparison`
public final class DirectoryComparison {
  private static final int WARM_UP = 12;
  private static final int ROUNDS = 25;
  private static final long TURN_NANOS = 333_000_000;
  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private DirectoryComparison() {}

  public static void main(String[] args) throws IOException {
    List<StorageType> both = List.of(StorageType.OFF_HEAP, StorageType.HEAP);
    for (StorageType storage : args.length == 0 ? both : Arrays.stream(args).map(StorageType::valueOf).toList()) {
      DirectoryBenchmark calls = new DirectoryBenchmark();
      calls.storage = storage;
      calls.batch = 256;
      calls.setup();
      for (int batch : new int[] {256, 1}) {
        calls.batch = batch;
        compare(storage + " " + batch + " announce/put", calls::announce, calls::barePut);
        compare(storage + " " + batch + " locate/get", calls::locate, calls::bareGet);
      }
      calls.end();
    }
  }

  private static void compare(String name, Runnable ours, Runnable bare) {
    double[] rates = new double[ROUNDS];
    double[] costs = new double[ROUNDS];
    Map<String, double[]> each = new LinkedHashMap<>();
    each.put("ours/s", new double[ROUNDS]);
    each.put("bare/s", new double[ROUNDS]);
    each.put("ours us CPU", new double[ROUNDS]);
    each.put("bare us CPU", new double[ROUNDS]);
    for (int round = -WARM_UP; round < ROUNDS; round++) {
      boolean isFirst = (round & 1) == 0;
      double[] one = turn(isFirst ? ours : bare);
      double[] other = turn(isFirst ? bare : ours);
      double[] own = isFirst ? one : other;
      double[] its = isFirst ? other : one;
      if (round >= 0) {
        rates[round] = own[0] / its[0];
        costs[round] = its[1] / own[1];
        each.get("ours/s")[round] = own[0];
        each.get("bare/s")[round] = its[0];
        each.get("ours us CPU")[round] = own[1];
        each.get("bare us CPU")[round] = its[1];
      }
    }
    StringBuilder line = new StringBuilder(name);
    each.forEach((what, values) -> line.append(" | ").append(what).append(' ').append(Math.round(median(values))));
    System.out.printf("%s | ratio %.2f | by CPU %.2f%n", line, median(rates), median(costs));
  }

  /// Calls a second, and microseconds of processor time of a call.
  private static double[] turn(Runnable call) {
    long cpu = SYSTEM.getProcessCpuTime();
    long began = System.nanoTime();
    long calls = 0;
    while (System.nanoTime() - began < TURN_NANOS) {
      call.run();
      calls++;
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    return new double[] {calls / seconds, (SYSTEM.getProcessCpuTime() - cpu) / 1e3 / calls};
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
