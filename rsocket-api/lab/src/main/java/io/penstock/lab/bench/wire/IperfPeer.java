package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.side.BenchNames;
import io.penstock.lab.bench.side.Installed;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.WireShape;
import io.penstock.node.cli.Console;
import io.penstock.wire.transport.CongestionControl;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// iperf3 between two processes of this machine: what its loopback moves when C sends one buffer over and over and
/// drops what it receives.
final class IperfPeer implements Peer {
  private static final String PROGRAM = "iperf3";
  private static final String HOST = "127.0.0.1";
  /// A shorter run warms up others; there is nothing to warm up here.
  private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  private final Path program;
  private final int port;
  private final Process server;

  private IperfPeer(Path program, int port, Process server) {
    this.program = program;
    this.port = port;
    this.server = server;
  }

  /// Null, and a line that says so, where it is not installed.
  static @Nullable IperfPeer startIfInstalled(Console console) throws IOException {
    Path program = Installed.program(PROGRAM, "--peer iperf3: skipped", console);
    if (program == null) {
      return null;
    }
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    Process server = new ProcessBuilder(program.toString(), "--server", "--bind", HOST, "--port", "" + port)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    return new IperfPeer(program, port, server);
  }

  @Override
  public String label() {
    return PROGRAM;
  }

  @Override
  public Load load(int blockBytes, int batch, SideSetting setting) {
    List<String> command = new ArrayList<>(List.of(program.toString(), "--client", HOST, "--port", "" + port,
        "--parallel", "" + setting.connections(), "--json", "--length",
        "" + Math.min(WireShape.SLICE_BYTES, (long) blockBytes * batch)));
    CongestionControl congestion =
        setting.congestion() == CongestionControl.AUTOMATIC ? CongestionControl.RENO : setting.congestion();
    String name = BenchNames.of(congestion);
    if (CongestionControl.available().contains(name)) {
      command.addAll(List.of("--congestion", name));
    }
    return new IperfLoad(command);
  }

  @Override
  public void close() {
    server.destroy();
    server.onExit().join();
  }

  /// @param command without the time
  private record IperfLoad(List<String> command) implements Load {
    @Override
    public Done run(long nanos) {
      if (nanos < LEAST_NANOS) {
        return new Done(0, nanos, new Histogram(1));
      }
      long seconds = Math.max(1, Math.round(nanos / 1e9)); // whole ones are all that it knows
      List<String> timed = new ArrayList<>(command);
      timed.addAll(List.of("--time", "" + seconds));
      try {
        Process process = new ProcessBuilder(timed).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try (InputStream out = process.getInputStream()) {
          return done(JsonMapper.shared().readTree(out));
        } finally {
          process.onExit().join();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (JacksonException e) {
        throw new IllegalStateException(PROGRAM + " must report in JSON", e);
      }
    }

    private static Done done(JsonNode report) {
      JsonNode received = report.at("/end/sum_received");
      if (received.isMissingNode()) {
        throw new IllegalStateException(PROGRAM + " must move bytes (" + report.path("error").asString("no error said")
            + ")");
      }
      double seconds = received.path("seconds").asDouble();
      JsonNode cpu = report.at("/end/cpu_utilization_percent");
      double percent = cpu.path("host_total").asDouble() + cpu.path("remote_total").asDouble();
      return new Done(received.path("bytes").asLong(), (long) (seconds * 1e9), new Histogram(1),
          (long) (percent / 100 * seconds * 1e9));
    }

    @Override
    public void close() {
      // each run has a process of its own
    }
  }
}
