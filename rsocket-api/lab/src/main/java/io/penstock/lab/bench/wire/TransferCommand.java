package io.penstock.lab.bench.wire;

import io.penstock.check.Checks;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchProgress;
import io.penstock.lab.bench.side.FarLink;
import io.penstock.lab.bench.side.NearSide;
import io.penstock.lab.bench.side.SideOptions;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.TransferDirection;
import io.penstock.lab.bench.side.TransferLoad;
import io.penstock.lab.bench.side.Turns;
import io.penstock.node.cli.Console;
import io.penstock.node.option.SizeOption;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `penstock bench transfer`: how fast segments of memory are read and written from another process.
@Command(
    name = "transfer",
    description = {"Measures how fast segments of memory are read and written from another process.", "",
      "Starts the far side in a process of its own, which registers memory as segments; submits batches of reads or"
          + " writes, and by turns sends as many bytes over plain Netty channels. A row's time is that of a batch. CPU"
          + " s/GB is that of each side. Over local, both sides are this process, and Netty goes over TCP.",
      "Over shared, the segments lie in memory that the other process can map: all but their bytes go over "
          + "a Unix domain socket, and so does Netty. The column CARRIED BY shows how the bytes "
          + "travelled; parts below 16 KiB, and bytes that find no staging slot, go in frames (inline).",
      "", "Verified, a written region is read back and compared, which takes time of its own.", "",
      "TO NETTY is our rate as a part of that of the Netty channel in the same round, and that rate in GB/s (in JSON"
          + " raw.ratio and raw.gigabytesPerSecond). CPU TO NETTY is our CPU time a byte, both sides together, as a"
          + " multiple of its (raw.cpuRatio).",
      "",
      "Ends with 1 if a byte is wrong, with 69 if there is no far side at --connect, with 74 if nothing could be"
          + " measured.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench transfer --blocks 4KiB,1MiB --direction write --seconds 2",
      "  penstock bench transfer --transport shared --blocks 64KiB,1MiB", ""})
public final class TransferCommand extends Bench<TransferReport> {
  @Option(names = "--direction", paramLabel = "NAME",
      description = "read, from the far side; write, to it; or both, by turns (default: ${DEFAULT-VALUE}).",
      defaultValue = "read")
  private TransferDirection direction = TransferDirection.READ;

  @Option(names = "--blocks", paramLabel = "SIZES", split = ",", converter = SizeOption.class,
      description = "Bytes of an item, a row each (default: ${DEFAULT-VALUE}).",
      defaultValue = "4KiB,16KiB,64KiB,256KiB,1MiB,4MiB")
  private List<Long> blocks = new ArrayList<>();

  @Option(names = "--batch", paramLabel = "NUMBERS", split = ",",
      description = "Items of a batch, a row each (default: 1 MiB of them, at least 1 and at most 256).")
  private List<Integer> batches = new ArrayList<>();

  @Option(names = "--threads", paramLabel = "N",
      description = "Batches under way at a time, over all connections (default: ${DEFAULT-VALUE}).",
      defaultValue = "4")
  private int threads;

  @Mixin
  private final SideOptions side = new SideOptions();

  TransferCommand(Console console) {
    super(console);
  }

  @Override
  protected TransferReport measured() throws IOException {
    SideSetting setting = side.setting(threads, 1);
    List<Integer> sizes = blocks.stream().map(bytes -> Math.clamp(bytes, 0, Integer.MAX_VALUE)).toList();
    for (int bytes : sizes) { // refuses what has no room
      Checks.positive("--blocks", bytes);
      for (int batch : batches.isEmpty() ? List.of(WireBench.batch(bytes)) : batches) {
        new TransferLoad.Shape(bytes, batch, direction, side.memory()).regions(setting);
      }
    }
    return measured(setting, sizes);
  }

  private TransferReport measured(SideSetting setting, List<Integer> sizes) throws IOException {
    try (FarLink far = side.far(console);
        NearSide near = new NearSide(setting, far);
        BenchProgress progress = BenchProgress.of(console, "bench transfer",
            (long) sizes.size() * Math.max(1, batches.size()) * Turns.nanos(setting, TransferBench.LOADS))) {
      TransferBench bench = new TransferBench(setting, direction, side.memory(), near);
      return TransferReport.of(setting, direction, side.memory(), bench.run(sizes, batches, progress));
    }
  }
}
