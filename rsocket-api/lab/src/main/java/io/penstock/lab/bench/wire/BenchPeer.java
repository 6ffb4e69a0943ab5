package io.penstock.lab.bench.wire;

import io.penstock.node.cli.Console;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Another program to compare with.
enum BenchPeer {
  NONE, REDIS, IPERF3;

  /// The program, running; null for none, or, with a line that says so, where it is not installed.
  @Nullable Peer startIfInstalled(Console console) throws IOException {
    return switch (this) {
      case NONE -> null;
      case REDIS -> RedisPeer.startIfInstalled(console);
      case IPERF3 -> IperfPeer.startIfInstalled(console);
    };
  }
}
