package io.penstock.lab.bench.wire;

import io.penstock.check.Checks;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchBlocks;
import io.penstock.lab.bench.side.BenchProgress;
import io.penstock.lab.bench.side.Direction;
import io.penstock.lab.bench.side.FarLink;
import io.penstock.lab.bench.side.NearSide;
import io.penstock.lab.bench.side.SideOptions;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.Turns;
import io.penstock.lab.bench.side.WireShape;
import io.penstock.node.cli.Console;
import io.penstock.node.option.SizeOption;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `penstock bench wire`: how fast blocks go from one process to another.
@Command(
    name = "wire",
    description = {"Measures how fast blocks go from one process to another.", "",
      "Starts the far side in a process of its own, gets or puts blocks, and by turns sends payloads of the same size"
          + " over a plain Netty channel, and copies memory with its checksum in one thread. CPU s/GB is that of each"
          + " side.",
      "",
      "TO NETTY is our rate as a part of that of the Netty channel in the same round, and that rate in GB/s (in JSON"
          + " raw.ratio and raw.gigabytesPerSecond). CPU TO NETTY is our CPU time a byte, both sides together, as a"
          + " multiple of its (raw.cpuRatio). TO COPY+CRC is our rate as a part of that of the copy (copy.ratio).",
      "",
      "Ends with 1 if a byte is wrong, with 69 if there is no far side at --connect, with 74 if nothing could be"
          + " measured.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench wire --blocks 64KiB,1MiB --direction get --seconds 2", ""})
public final class WireCommand extends Bench<WireReport> {
  @Option(names = "--direction", paramLabel = "NAME",
      description = "get, from the far side, or put, to it (default: ${DEFAULT-VALUE}).", defaultValue = "get")
  private Direction direction = Direction.GET;

  @Option(names = "--blocks", paramLabel = "SIZES", split = ",", converter = SizeOption.class,
      description = "Bytes of a block, a row each (default: ${DEFAULT-VALUE}).",
      defaultValue = "4KiB,16KiB,64KiB,256KiB,1MiB,4MiB")
  private List<Long> blocks = new ArrayList<>();

  @Option(names = "--batch", paramLabel = "NUMBERS", split = ",",
      description = "Blocks of a request, a row each (default: as many as fit 1 MiB, 1 to 256).")
  private List<Integer> batches = new ArrayList<>();

  @Option(names = "--threads", paramLabel = "N",
      description = "Requests under way at a time, over all connections (default: ${DEFAULT-VALUE}).",
      defaultValue = "4")
  private int threads;

  @Option(names = "--layers", paramLabel = "N",
      description = "Layers of a block; two checksums each (default: ${DEFAULT-VALUE}).", defaultValue = "1")
  private int layers;

  @Mixin
  private final SideOptions side = new SideOptions();

  @Option(names = "--peer", paramLabel = "NAME",
      description = "Also measures another program that is installed: redis, the same reads from a redis-server, or"
          + " iperf3, which moves one piece of memory that the processor's cache holds, over as many connections with"
          + " the same congestion control.")
  private BenchPeer peer = BenchPeer.NONE;

  WireCommand(Console console) {
    super(console);
  }

  @Override
  protected WireReport measured() throws IOException {
    side.requireHostMemory();
    SideSetting setting = side.setting(threads, layers);
    List<Integer> sizes = blocks.stream().map(bytes -> Math.clamp(bytes, 0, Integer.MAX_VALUE)).toList();
    sizes.forEach(bytes -> new BenchBlocks(bytes, setting.layers())); // refuses what no block can be
    batches.forEach(WireShape::requireBatch);
    try (Peer beside = peer.startIfInstalled(console)) {
      return measured(setting, sizes, beside);
    }
  }

  private WireReport measured(SideSetting setting, List<Integer> sizes, @Nullable Peer beside) throws IOException {
    try (FarLink far = side.far(console);
        NearSide near = new NearSide(setting, far);
        BenchProgress progress = BenchProgress.of(console, "bench wire",
            (long) sizes.size() * Math.max(1, batches.size())
                * Turns.nanos(setting, WireBench.loads(setting, beside != null)))) {
      WireBench bench = new WireBench(setting, direction, near, beside);
      return WireReport.of(setting, direction, side.memory(), bench.run(sizes, batches, progress));
    }
  }
}
