package io.penstock.lab.bench.wire;

import io.penstock.check.Checks;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchBlocks;
import io.penstock.lab.bench.side.BenchTransport;
import io.penstock.lab.bench.side.Direction;
import io.penstock.lab.bench.side.FarLink;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.NearSide;
import io.penstock.lab.bench.side.ProcessCpu;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.WireShape;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.option.SizeOption;
import io.penstock.wire.transport.CongestionControl;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock bench start`: how soon a fresh client and a fresh node are as fast as they become.
@Command(
    name = "start",
    description = {"Measures how soon a fresh client and a fresh node reach their steady rate.", "",
      "This process is the client; the node is in another one. Both begin as the launcher starts them, and the rate of"
          + " each second is compared with that of the last ones.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench start --direction put --seconds 40", ""})
public final class StartCommand extends Bench<StartReport> {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long SOURCE_BYTES = 256 << 20;

  @Option(names = "--direction", paramLabel = "NAME",
      description = "get, from the node, or put, to it (default: ${DEFAULT-VALUE}).", defaultValue = "get")
  private Direction direction = Direction.GET;

  @Option(names = "--transport", paramLabel = "NAME",
      description = "tcp, uds, ws or shared (default: ${DEFAULT-VALUE}).",
      defaultValue = "tcp")
  private BenchTransport transport = BenchTransport.TCP;

  @Option(names = "--block-bytes", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of a block (default: ${DEFAULT-VALUE}).", defaultValue = "64KiB")
  private long blockBytes;

  @Option(names = "--layers", paramLabel = "N",
      description = "Layers of a block; two checksums each (default: ${DEFAULT-VALUE}).", defaultValue = "8")
  private int layers;

  @Option(names = "--threads", paramLabel = "N",
      description = "Requests under way at a time (default: ${DEFAULT-VALUE}).", defaultValue = "4")
  private int threads;

  @Option(names = "--batch", paramLabel = "N",
      description = "Blocks of a request (default: as many as fit 1 MiB, 1 to 256).")
  private @Nullable Integer batch;

  @Option(names = "--seconds", paramLabel = "TIME", converter = SecondsOption.class,
      description = "Time from the first request on, whole seconds, at least 3 (default: ${DEFAULT-VALUE}).",
      defaultValue = "30")
  private Duration time = Duration.ZERO;

  StartCommand(Console console) {
    super(console);
  }

  @Override
  protected StartReport measured() throws IOException {
    Checks.positive("--threads", threads);
    if (batch != null) {
      WireShape.requireBatch(batch);
    }
    long seconds = time.toSeconds();
    if (seconds < 3 || !time.equals(Duration.ofSeconds(seconds))) {
      throw new IllegalArgumentException("--seconds must be a whole number >= 3 (was " + time.toNanos() / 1e9 + ")");
    }
    int bytes = Math.clamp(blockBytes, 0, Integer.MAX_VALUE);
    new BenchBlocks(bytes, layers); // refuses what no block can be
    if (transport == BenchTransport.LOCAL) {
      throw new IllegalArgumentException("--transport must not be local, for two processes (was local)");
    }
    SideSetting setting = new SideSetting(transport, CongestionControl.AUTOMATIC, layers,
        threads, 1, SOURCE_BYTES, false, Duration.ZERO, Duration.ofSeconds(1), Duration.ZERO, 1);
    return measured(setting, bytes, seconds);
  }

  private StartReport measured(SideSetting setting, int bytes, long seconds) throws IOException {
    int blocks = batch == null ? WireBench.batch(bytes) : batch;
    try (FarLink far = FarLink.start(SOURCE_BYTES);
        NearSide near = new NearSide(setting, far);
        Progress progress = Progress.of(console, "bench start", "seconds");
        Load load = near.blocks(bytes, blocks, direction)) {
      long start = TimeUnit.MILLISECONDS.toNanos(ManagementFactory.getRuntimeMXBean().getUptime());
      List<StartReport.Measured> measured = new ArrayList<>();
      for (long second = 1; second <= seconds; second++) {
        long cpu = ProcessCpu.nanos() + near.farCpuNanos();
        Load.Done done = load.run(SECOND);
        measured
            .add(new StartReport.Measured(done.units(), done.nanos(), ProcessCpu.nanos() + near.farCpuNanos() - cpu));
        progress.at(second, seconds);
      }
      return StartReport.of(setting, direction, bytes, blocks, start, measured);
    }
  }
}
