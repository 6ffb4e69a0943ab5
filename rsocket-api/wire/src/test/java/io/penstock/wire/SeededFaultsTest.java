package io.penstock.wire;

import io.penstock.wire.FaultRound.Node;
import io.penstock.wire.FaultRound.Tally;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Seeded faults over sockets, as many as were asked for: see [FaultRound].
final class SeededFaultsTest {
  @ParameterizedTest
  @EnumSource
  @Timeout(120)
  void faults_leaveEachItemWithOneEnd(Link link) {
    faults(link, 12, 30);
  }

  /// Ten thousand over each transport.
  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  @Timeout(7200)
  void faults_byTheThousand_leaveEachItemWithOneEnd(Link link) {
    faults(link, 40, 10_000);
  }

  /// @param least faults that happened, not those that were planned behind the last byte
  private static void faults(Link link, int cases, int least) {
    BufferLeaks.listen();
    Tally tally = new Tally();
    try (Node node = new Node(link)) {
      for (int round = 0; tally.faults() < least; round++) {
        new FaultRound(node, round, cases, tally).run();
        if (round % 10 == 1) {
          System.out.println(link + ", seeds to " + (round + 1) * cases + ": " + tally);
        }
      }
    }
    BufferLeaks.requireNone();
    System.out.println(link + ": " + tally);
  }
}
