package io.penstock.lab.bench.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.lab.bench.side.BenchTransport;
import io.penstock.lab.bench.side.Installed;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.node.cli.Console;
import io.penstock.wire.transport.CongestionControl;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class IperfPeerTest {
  private static final SideSetting SETTING = new SideSetting(BenchTransport.TCP, CongestionControl.AUTOMATIC, 1, 2, 1,
      1 << 20, false, Duration.ZERO, Duration.ofSeconds(1), Duration.ZERO, 1);

  @Test
  void bytesAndCpu_areCounted() throws IOException {
    try (Peer peer = IperfPeer.startIfInstalled(Console.ofProcess())) {
      assumeTrue(peer != null, "iperf3 is not installed");
      try (Load load = peer.load(64 << 10, 16, SETTING)) {
        assertThat(load.run(1_000_000).units()).as("too short for it").isZero();
        Load.Done done = load.run(1_000_000_000);
        assertThat(done.units()).isGreaterThan(1 << 20);
        assertThat(done.nanos()).isGreaterThan(500_000_000);
        assertThat(done.otherCpuNanos()).isPositive();
      }
    }
  }

  @Test
  void aMachineWithoutIt_isToldSo() throws IOException {
    assertThat(Installed.program("no-such-program", "--peer iperf3: skipped", Console.ofProcess())).isNull();
  }
}
