package io.penstock.lab.bench.recording;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.SizeOption;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// `penstock bench recording`: the cost of a recording.
@Command(
    name = "recording",
    description = {"Measures what a recording costs the node that makes it.", "",
      "Puts blocks into a node over loopback sockets and reads them again, every byte compared, by turns: recording"
          + " nothing, events, events and the bytes of blocks, and the last minute in memory. Medians of the rounds,"
          + " each against the turn of its round that recorded nothing.",
      "",
      "Exits with 1 if events cost more than 5 % of the throughput, bytes more than 30 %, or the last minute more than"
          + " 3 %, or if events were left out; with 74 if nothing could be measured.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench recording --blocks 64KiB --rounds 9", ""})
public final class RecordingCommand extends Bench<RecordingReport> {
  @Option(names = "--dir", paramLabel = "FOLDER",
      description = "A folder on the disk of the recordings; the bench deletes what it writes there (default: a"
          + " temporary folder). " + Folders.MADE)
  private @Nullable Path dir;

  @Option(names = "--blocks", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of a block (default: ${DEFAULT-VALUE}).", defaultValue = "64KiB")
  private long blockBytes;

  @Option(names = "--bytes", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes that are put, and read, in a turn (default: ${DEFAULT-VALUE}).", defaultValue = "384MiB")
  private long bytes;

  @Option(names = "--rounds", paramLabel = "N", description = "Rounds (default: ${DEFAULT-VALUE}).",
      defaultValue = "7")
  private int rounds;

  RecordingCommand(Console console) {
    super(console);
  }

  @Override
  protected RecordingReport measured() throws IOException {
    RecordedLoad load = new RecordedLoad(Math.toIntExact(blockBytes), Math.toIntExact(Math.max(1, bytes / blockBytes)),
        rounds);
    if (dir != null) {
      Folders.make(console::say, "--dir", dir);
    }
    Scheduler timers = Schedulers.newSingle("penstock-bench", true);
    try (TemporaryFolder place = TemporaryFolder.in(dir, "penstock-bench-");
        Progress progress = Progress.of(console, "bench recording", "rounds")) {
      return new RecordingBench(load, place.path(), timers, System::nanoTime).run(progress);
    } finally {
      timers.dispose();
    }
  }
}
