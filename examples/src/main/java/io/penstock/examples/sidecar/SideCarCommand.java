package io.penstock.examples.sidecar;

import io.penstock.check.Checks;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.examples.process.OtherJvm;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.option.SizeOption;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.tiers.TierRecording;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// `penstock example sidecar`.
@Command(name = "sidecar", mixinStandardHelpOptions = true,
    description = "Starts a second process, which has a simulated device. This one has none: it moves blocks of its "
        + "memory"
        + " to the device and back through the side-car of the other, over a Unix socket, and compares every byte.",
    footer = {"", "Examples:", "  penstock example sidecar", "  penstock example sidecar --blocks 2000 --json"})
public final class SideCarCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--blocks", paramLabel = "N", description = "Blocks to move (default: ${DEFAULT-VALUE}).",
      defaultValue = "512")
  private int blocks;

  @Option(names = "--block-bytes", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Size of a block, a multiple of 8 bytes (default: ${DEFAULT-VALUE}).", defaultValue = "256KiB")
  private long blockBytes;

  @Option(names = "--seed", paramLabel = "N",
      description = "What the blocks are made from (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Option(names = "--owner", paramLabel = "SOCKET", hidden = true, description = "Be the process with the device.")
  private @Nullable Path owner;

  @Option(names = "--json", description = "Prints the result as JSON.")
  private boolean json;

  @Mixin
  private RecordOptions record = new RecordOptions();

  public SideCarCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Checks.positive("--blocks", blocks);
    if (blockBytes <= 0 || blockBytes % 8 != 0 || blockBytes > 1 << 30) {
      throw new IllegalArgumentException(
          "--block-bytes must be a multiple of 8 in [8, " + (1 << 30) + "] (was " + blockBytes + ")");
    }
    return owner != null ? own(owner) : both();
  }

  /// Says the key of the memory on the first line, and what it counted on the last, once its standard input has ended.
  private int own(Path socket) throws IOException, InterruptedException {
    CountDownLatch over = new CountDownLatch(1);
    Thread.ofPlatform().daemon().name("sidecar-input").start(() -> {
      awaitEndOfInput();
      over.countDown();
    });
    Scheduler timers = Schedulers.newSingle("sidecar-timers");
    try {
      SideCarReport.Owner counted = new DeviceOwner(socket, blocks * blockBytes, timers)
          .run(key -> console.print(HexFormat.of().formatHex(key.bytes())), over);
      console.print(counted.line());
      return ExitCode.OK;
    } finally {
      timers.dispose();
    }
  }

  private static void awaitEndOfInput() {
    try {
      System.in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      return; // the other process has gone
    }
  }

  private int both() throws IOException, InterruptedException {
    try (TemporaryFolder folder = TemporaryFolder.create("penstock-sidecar-");
        TierRecording recording = record.begin("")) {
      return both(folder.path().resolve("socket"), recording);
    }
  }

  private int both(Path socket, @Nullable TierRecording recording) throws IOException, InterruptedException {
    console.say("sidecar: starting a second process, which has a device");
    Process other = OtherJvm.start(List.of(), List.of("sidecar", "--owner", socket.toString(), "--blocks",
        String.valueOf(blocks), "--block-bytes", String.valueOf(blockBytes)));
    try (BufferedReader lines = other.inputReader()) {
      IpcKey key = IpcKey.of(HexFormat.of().parseHex(line(lines, other)));
      console.say("sidecar: moving " + Plural.of(blocks, "block") + " to the device and back, "
          + Sizes.human(blocks * blockBytes) + " each way");
      BlockMover.Moved moved = new BlockMover(blocks, (int) blockBytes, seed, recording).move(socket, key);
      other.outputWriter().close();
      SideCarReport.Owner counted = SideCarReport.Owner.of(line(lines, other));
      SideCarReport report = new SideCarReport(blocks, (int) blockBytes, moved.wrong(), moved.toDevice(),
          moved.toHost(), counted);
      print(report);
      return report.isGood() && other.waitFor() == ExitCode.OK ? ExitCode.OK : ExitCode.FOUND_FAILURE;
    } finally {
      other.destroyForcibly().waitFor();
    }
  }

  private static String line(BufferedReader lines, Process other) throws IOException, InterruptedException {
    String line = lines.readLine();
    if (line == null) {
      throw new IOException(
          "second process must say what it has (was ended with exit code " + other.waitFor() + ")");
    }
    return line;
  }

  private void print(SideCarReport report) {
    if (json) {
      console.json(report);
      return;
    }
    SideCarReport.Owner counted = report.owner();
    console.print(String.format(Locale.ROOT,
        "sidecar: %s of %s, %s wrong; %.2f GB/s to the device, %.2f GB/s back; %s of copies",
        Plural.of(report.blocks(), "block"), Sizes.exact(report.blockBytes()), Numbers.of(report.wrong()),
        report.toDevice() / 1e9, report.toHost() / 1e9, Plural.of(counted.calls(), "call")));
    console.print(String.format(Locale.ROOT, "owner of the device: %s of its own meanwhile, %s wrong",
        Plural.of(counted.blocks(), "block"), Numbers.of(counted.wrong())));
  }
}
