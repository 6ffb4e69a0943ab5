package io.penstock.wire;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.netty.resources.LoopResources;

/// Seeded faults over sockets, as many as were asked for: see [FaultRound].
final class SeededFaultsTest {
  private static final int AT_LENGTH = Integer.getInteger("penstock.proof.faults", 10_000);
  private static final String ONE_LINK = System.getProperty("penstock.proof.link", "");

  @TempDir
  static Path folder;

  static Stream<LinkEnds> links() {
    return links(folder).filter(link -> link.toString().startsWith(ONE_LINK));
  }

  /// All transports; sockets have their files in `folder`.
  static Stream<LinkEnds> links(Path folder) {
    Stream<LinkEnds> enums = Stream.of(Link.values());
    return LoopResources.hasNativeSupport() ? Stream.concat(enums, Stream.of(new UnixLink(folder))) : enums;
  }

  /// Over all transports at once, for much of a round is a wait for limits.
  @Test
  @Timeout(180)
  void faults_leaveEachItemWithOneEnd() throws Exception {
    run(links().map(link -> new Rounds(link, 8, 30)).toList(), FaultLimits.SHORT);
  }

  /// Ten thousand over each transport, at four nodes at once.
  @Tag("proof")
  @ParameterizedTest
  @MethodSource("links")
  @Timeout(7200)
  void faults_byTheThousand_leaveEachItemWithOneEnd(LinkEnds link) throws Exception {
    Rounds rounds = new Rounds(link, 40, AT_LENGTH);
    run(Collections.nCopies(4, rounds), FaultLimits.LONG);
    rounds.tally.requireEachKind();
  }

  private static void run(List<Rounds> each, FaultLimits limits) throws Exception {
    BufferLeaks.listen();
    try (ExecutorService workers = Executors.newFixedThreadPool(each.size())) {
      for (Future<?> one : each.stream().map(rounds -> workers.submit(() -> rounds.run(limits))).toList()) {
        one.get();
      }
    }
    BufferLeaks.requireNone();
    each.stream().distinct().forEach(System.out::println);
  }

  /// Rounds over one transport, until as many faults have happened as were asked for or one round has failed.
  private static final class Rounds {
    private final LinkEnds link;
    private final int seeds;
    private final int faults;
    private final FaultTally tally = new FaultTally();
    private final AtomicInteger begun = new AtomicInteger();
    private volatile boolean failed;

    Rounds(LinkEnds link, int seeds, int faults) {
      this.link = link;
      this.seeds = seeds;
      this.faults = faults;
    }

    /// At a node of its own.
    void run(FaultLimits limits) {
      try (FaultNode node = new FaultNode(link, limits)) {
        while (tally.faults() < faults && !failed) {
          int number = begun.getAndIncrement();
          new FaultRound(node, number, seeds, tally).run();
          if (number % 20 == 19) {
            System.out.println(link + ", " + number + " rounds: " + tally.kinds());
          }
        }
      } catch (Throwable e) {
        failed = true;
        throw new AssertionError(toString(), e);
      }
    }

    @Override
    public String toString() {
      return link + ", " + begun + " rounds of " + seeds + " seeds: " + tally;
    }
  }
}
