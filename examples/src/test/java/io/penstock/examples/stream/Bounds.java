package io.penstock.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

/// What every sample of the gauges must show: our budget, the arenas, and Netty's own counts agree.
final class Bounds {
  /// Frame headers, slice headers and control frames among the bytes of a connection.
  private static final long FRAMING_BYTES = 64 << 10;
  /// What Netty's allocator may hold: it keeps whole chunks for each event loop.
  private static final long NETTY_BYTES = 64 << 20;

  private Bounds() {}

  static void assertWithin(StreamReport report) {
    assertThat(report.samples()).isNotEmpty().allSatisfy(sample -> {
      assertThat(sample.inFlightBytes()).isLessThanOrEqualTo(report.budgetBytes());
      assertThat(sample.networkBytes()).isLessThanOrEqualTo(report.budgetBytes() + FRAMING_BYTES);
      assertThat(sample.heldBytes()).isLessThanOrEqualTo(report.boundBytes());
      assertThat(sample.arenaBytes()).isLessThanOrEqualTo((long) Shape.READER_SLOTS * Shape.BLOCK_BYTES);
      assertThat(sample.nettyBytes()).isLessThanOrEqualTo(NETTY_BYTES);
    });
  }
}
