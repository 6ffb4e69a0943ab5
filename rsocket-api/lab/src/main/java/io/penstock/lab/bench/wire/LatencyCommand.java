package io.penstock.lab.bench.wire;

import io.penstock.check.Checks;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchBlocks;
import io.penstock.lab.bench.side.BenchProgress;
import io.penstock.lab.bench.side.BenchTransport;
import io.penstock.lab.bench.side.FarLink;
import io.penstock.lab.bench.side.NearSide;
import io.penstock.lab.bench.side.SideOptions;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.node.cli.Console;
import io.penstock.node.option.SizeOption;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `penstock bench latency`: how long a get and a look-up take.
@Command(
    name = "latency",
    description = {"Measures how long a get of one block takes, and how many look-ups a connection answers.", "",
      "Starts the far side in a process of its own. Gets go one at a time, by turns with plain RSocket requests whose"
          + " answers have as many bytes; look-ups by turns with empty RSocket requests. With"
          + " --transport shared, also a bare round trip over a Unix domain socket in C, and blocks that are read where"
          + " they lie beside a copy in memory.",
      "",
      "Ends with 1 if a byte is wrong, with 69 if there is no far side at --connect, with 74 if nothing could be"
          + " measured.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench latency --blocks 4KiB,64KiB",
      "  penstock bench latency --transport shared --spin 50", ""})
public final class LatencyCommand extends Bench<LatencyReport> {
  @Option(names = "--blocks", paramLabel = "SIZES", split = ",", converter = SizeOption.class,
      description = "Bytes of a block, a row each (default: ${DEFAULT-VALUE}).", defaultValue = "4KiB,64KiB,256KiB")
  private List<Long> blocks = new ArrayList<>();

  @Option(names = "--under-way", paramLabel = "N",
      description = "Look-ups under way at a time (default: ${DEFAULT-VALUE}).", defaultValue = "64")
  private int underWay;

  @Option(names = "--batch", paramLabel = "N",
      description = "Keys of a batched look-up, at most 4096 (default: ${DEFAULT-VALUE}).", defaultValue = "256")
  private int batch;

  @Option(names = "--layers", paramLabel = "N",
      description = "Layers of a block; two checksums each (default: ${DEFAULT-VALUE}).", defaultValue = "1")
  private int layers;

  @Mixin
  private final SideOptions side = new SideOptions();

  LatencyCommand(Console console) {
    super(console);
  }

  @Override
  protected LatencyReport measured() throws IOException {
    Checks.positive("--under-way", underWay);
    if (batch < 1 || batch > NearSide.LOOKED_UP_BLOCKS) {
      throw new IllegalArgumentException(
          "--batch must be in [1, " + NearSide.LOOKED_UP_BLOCKS + "] (was " + batch + ")");
    }
    side.requireHostMemory();
    SideSetting setting = side.setting(1, layers);
    List<Integer> sizes = blocks.stream().map(bytes -> Math.clamp(bytes, 0, Integer.MAX_VALUE)).toList();
    sizes.forEach(bytes -> new BenchBlocks(bytes, setting.layers())); // refuses what no block can be
    return measured(setting, sizes);
  }

  private LatencyReport measured(SideSetting setting, List<Integer> sizes) throws IOException {
    try (FarLink far = side.far(console);
        NearSide near = new NearSide(setting, far);
        RoundTripLoad bare = setting.transport() == BenchTransport.SHARED
            ? RoundTripLoad.compiledIfPossible(console)
            : null;
        BenchProgress progress = BenchProgress.of(console, "bench latency",
            LatencyBench.nanos(setting, sizes.size(), bare != null))) {
      return new LatencyBench(setting, near, bare).run(sizes, underWay, batch, progress);
    }
  }
}
