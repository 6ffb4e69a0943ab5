package io.penstock.wire;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.netty.resources.LoopResources;

/// Seeded faults over sockets, as many as were asked for: see [FaultRound].
final class SeededFaultsTest {
  private static final int AT_LENGTH = Integer.getInteger("penstock.proof.faults", 10_000);
  private static final int SEEDS_A_ROUND = Integer.getInteger("penstock.proof.seeds", 60);
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

  @ParameterizedTest
  @MethodSource("links")
  @Timeout(120)
  void faults_leaveEachItemWithOneEnd(LinkEnds link) {
    faults(link, 8, 30);
  }

  /// Ten thousand over each transport.
  @Tag("proof")
  @ParameterizedTest
  @MethodSource("links")
  @Timeout(7200)
  void faults_byTheThousand_leaveEachItemWithOneEnd(LinkEnds link) {
    faults(link, SEEDS_A_ROUND, AT_LENGTH).requireEachKind();
  }

  /// @param seeds of a round
  /// @param least faults that happened
  private static FaultTally faults(LinkEnds link, int seeds, int least) {
    BufferLeaks.listen();
    FaultTally tally = new FaultTally();
    int rounds = 0;
    try (FaultTime time = FaultTime.virtual(); FaultNode node = new FaultNode(link, FaultLimits.defaults(), time)) {
      for (; tally.faults() < least; rounds++) {
        new FaultRound(node, rounds, seeds, tally).run();
        if (rounds % 10 == 9) {
          System.out.println(link + ", " + rounds + " rounds: " + tally.kinds());
        }
      }
    } catch (AssertionError e) {
      throw new AssertionError(link + ": " + tally, e);
    }
    BufferLeaks.requireNone();
    System.out.println(link + ", " + rounds + " rounds of " + seeds + " seeds: " + tally);
    return tally;
  }
}
