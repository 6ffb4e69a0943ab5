package io.penstock.lab.bench.side;

import io.penstock.node.cli.Console;
import io.penstock.node.link.HostPort;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.option.SizeOption;
import io.penstock.wire.transport.CongestionControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of benches with two sides.
public final class SideOptions {
  private static final long MOST_SPIN_MICROS = 1_000_000;
  private static final Path KNOWN_CONTROLS = Path.of("/proc/sys/net/ipv4/tcp_available_congestion_control");

  @Option(names = "--transport", paramLabel = "NAME",
      description = "tcp; uds, a Unix domain socket; ws, WebSocket; local, within one process; or shared, a Unix domain"
          + " socket, and bytes that each side reads in the memory of the other (default: ${DEFAULT-VALUE}).",
      defaultValue = "tcp")
  private BenchTransport transport = BenchTransport.TCP;

  @Option(names = "--congestion", paramLabel = "NAME",
      description = "Congestion control of the sockets: cubic, bbr or reno; system for what the system chose; automatic"
          + " for Penstock's choice, reno between loopback addresses (default: ${DEFAULT-VALUE}). Linux only.",
      defaultValue = "automatic")
  private CongestionControl congestion = CongestionControl.AUTOMATIC;

  @Option(names = "--memory", paramLabel = "KIND",
      description = "Memory that bytes come from and go to: host, or device, which only bench transfer has "
          + "(default: ${DEFAULT-VALUE}).",
      defaultValue = "host")
  private MemoryKind memory = MemoryKind.HOST;

  @Option(names = "--connections", paramLabel = "N",
      description = "Connections, with an event loop each up to the processors (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private int connections;

  @Option(names = "--source", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Memory that is sent, one part after another; twice as much for puts (default: ${DEFAULT-VALUE}).",
      defaultValue = "256MiB")
  private long source;

  @Option(names = "--seconds", paramLabel = "TIME", converter = SecondsOption.class,
      description = "Time of each load in each round, such as 2, 0.5 or 2s (default: ${DEFAULT-VALUE}).",
      defaultValue = "2")
  private Duration seconds = Duration.ZERO;

  @Option(names = "--warm-up", paramLabel = "TIME", converter = SecondsOption.class,
      description = "Warm-up before the first round of each row, such as 15 or 15s; 0 for none, and figures of a cold"
          + " JVM (default: ${DEFAULT-VALUE}).",
      defaultValue = "8")
  private Duration warmUp = Duration.ZERO;

  @Option(names = "--rounds", paramLabel = "N",
      description = "Rounds in which the loads take turns; figures are medians (default: ${DEFAULT-VALUE}).",
      defaultValue = "5")
  private int rounds;

  @Option(names = "--verify", description = "Compare each byte with what was made, beside its checksum.")
  private boolean verify;

  @Option(names = "--connect", paramLabel = "HOST:PORT", converter = HostPort.Converter.class,
      description = "The far side that penstock bench far-side runs there (default: a process of this machine).")
  private @Nullable HostPort connect;

  public void requireHostMemory() {
    if (memory != MemoryKind.HOST) {
      throw new IllegalArgumentException("--memory must be host (was " + BenchNames.of(memory) + ")");
    }
  }

  public MemoryKind memory() {
    return memory;
  }

  @Option(names = "--spin", paramLabel = "MICROS",
      description = "Longest spin of the read ring's threads before they sleep, with --transport shared; each takes a"
          + " processor while it spins (default: ${DEFAULT-VALUE}, they sleep at once).",
      defaultValue = "0")
  private long spin;

  /// @param threads requests under way at a time
  /// @param layers of a block
  public SideSetting setting(int threads, int layers) throws IOException {
    requireKnown();
    if (spin < 0 || spin > MOST_SPIN_MICROS) {
      throw new IllegalArgumentException("--spin must be in [0, " + MOST_SPIN_MICROS + "] (was " + spin + ")");
    } else if (spin > 0 && transport != BenchTransport.SHARED) {
      throw new IllegalArgumentException(
          "--transport must be shared for --spin %d, which read rings alone have (was %s)"
              .formatted(spin, BenchNames.of(transport)));
    }
    return new SideSetting(transport, congestion, layers, threads, connections, source, verify,
        Duration.of(spin, ChronoUnit.MICROS), seconds, warmUp, rounds);
  }

  /// Netty only logs that the kernel refused an option.
  private void requireKnown() throws IOException {
    if (congestion == CongestionControl.AUTOMATIC || congestion == CongestionControl.SYSTEM) {
      return;
    }
    String known = Files.isReadable(KNOWN_CONTROLS) ? Files.readString(KNOWN_CONTROLS).strip() : "";
    if (!Arrays.asList(known.split(" ")).contains(BenchNames.of(congestion))) {
      throw new IllegalArgumentException("--congestion must be one that this kernel has, of " + known + " (was "
          + BenchNames.of(congestion) + ")");
    }
  }

  /// Starts the far side, or connects to it.
  public FarLink far(Console console) throws IOException {
    if (connect != null && transport == BenchTransport.LOCAL) {
      throw new IllegalArgumentException("--connect must be left out with --transport local (was " + connect + ")");
    } else if (connect != null) {
      return FarLink.connect(connect);
    } else if (transport == BenchTransport.LOCAL) {
      return FarLink.here(source);
    }
    console.say("starting the far side in a process of its own");
    return FarLink.start(source);
  }
}
