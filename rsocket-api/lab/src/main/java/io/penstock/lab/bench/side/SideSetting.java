package io.penstock.lab.bench.side;

import io.penstock.check.Checks;
import io.penstock.node.option.SecondsOption;
import io.penstock.wire.transport.CongestionControl;
import java.time.Duration;

/// Settings that all loads of a bench share.
///
/// @param transport of the sockets
/// @param congestion of the sockets
/// @param layers of a block
/// @param threads requests under way at a time
/// @param connections over which they are spread
/// @param sourceBytes of memory that is read, one part after another
/// @param verify whether each received byte is compared with the generated one
/// @param spin of the read ring, with shared memory
/// @param time of each load in each round
/// @param warmUp before the first round
/// @param rounds in which the loads take turns
public record SideSetting(BenchTransport transport, CongestionControl congestion, int layers, int threads,
    int connections,
    long sourceBytes, boolean verify, Duration spin, Duration time, Duration warmUp, int rounds) {
  public SideSetting {
    Checks.positive("--layers", layers);
    Checks.positive("--threads", threads);
    Checks.positive("--connections", connections);
    Checks.positive("--rounds", rounds);
    Checks.notNegative("--spin", spin);
    SecondsOption.positive("--seconds", time);
    if (sourceBytes < 1 << 20 || sourceBytes > 1 << 30) {
      throw new IllegalArgumentException("--source must be in [1 MiB, 1 GiB] (was " + sourceBytes + ")");
    }
  }
}
