package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Minutes of clients that come, work, cancel, break off and go, over sockets of every transport at once, with nodes
/// that start again now and then: memory, file descriptors and threads of the process stay as they are.
final class SocketChurnTest {
  private static final Path SELF = Path.of("/proc/self");

  @TempDir
  private Path folder;

  @Tag("proof")
  @Test
  @Timeout(1800)
  void tenMinutesOfChurn_leaveTheProcessAsItIs() throws IOException {
    churn(Duration.ofSeconds(Long.getLong("penstock.proof.churn.seconds", 600)));
  }

  private void churn(Duration length) throws IOException {
    assumeTrue(Files.isDirectory(SELF), SELF + " must be there");
    BufferLeaks.listen();
    FaultTally tally = new FaultTally();
    List<Sample> samples = new ArrayList<>();
    FaultTime time = FaultTime.real();
    List<FaultNode> nodes =
        SeededFaultsTest.links(folder).map(link -> new FaultNode(link, FaultLimits.defaults(), time)).toList();
    try {
      long until = System.nanoTime() + length.toNanos();
      for (int round = 0; System.nanoTime() < until; round++) {
        for (FaultNode node : nodes) {
          new FaultRound(node, round, 20, tally).run();
          node.cancelSome(round);
        }
        samples.add(Sample.now());
        if (round % 10 == 0) {
          System.out.println("round " + round + ", " + samples.getLast());
        }
      }
    } finally {
      nodes.forEach(FaultNode::close);
      time.close();
    }
    BufferLeaks.requireNone();
    System.out.println(tally + "\nfirst " + samples.getFirst() + ", half " + samples.get(samples.size() / 2) + ", last "
        + samples.getLast());
    requireFlat(samples, "file descriptors", Sample::descriptors, 0, 4);
    requireFlat(samples, "threads", Sample::threads, 0, 2);
    requireFlat(samples, "bytes of the heap", Sample::heapBytes, 0.1, 8 << 20);
    requireFlat(samples, "resident bytes", Sample::residentBytes, 0.1, 32 << 20);
  }

  /// The median of the last quarter is that of the second quarter, but for a share and a few.
  private static void requireFlat(List<Sample> samples, String what, ToLongFunction<Sample> figure, double share,
      long few) {
    int quarter = samples.size() / 4;
    long before = median(samples.subList(quarter, 2 * quarter + 1), figure);
    long after = median(samples.subList(3 * quarter, samples.size()), figure);
    assertThat(after).as(what).isLessThanOrEqualTo(before + (long) (share * before) + few);
  }

  private static long median(List<Sample> samples, ToLongFunction<Sample> figure) {
    long[] sorted = samples.stream().mapToLong(figure).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  /// What the process has after a collection of garbage.
  private record Sample(long descriptors, long threads, long heapBytes, long residentBytes) {
    static Sample now() throws IOException {
      System.gc();
      try (Stream<Path> open = Files.list(SELF.resolve("fd"));
          Stream<String> status = Files.lines(SELF.resolve("status"))) {
        long residentKib = status.filter(line -> line.startsWith("VmRSS:"))
            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElseThrow();
        return new Sample(open.count(), ManagementFactory.getThreadMXBean().getThreadCount(),
            ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(), residentKib << 10);
      }
    }
  }
}
