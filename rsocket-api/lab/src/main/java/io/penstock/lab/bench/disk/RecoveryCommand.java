package io.penstock.lab.bench.disk;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.SizeOption;
import io.penstock.node.text.Sizes;
import io.penstock.storage.EngineKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock bench recovery`: the time to open and to check a journal.
@Command(
    name = "recovery",
    description = {
      "Measures how long opening and checking a folder of blocks take, beside a plain read of the same files.",
      "",
      "Writes the folder first, unless it exists. Each round reads the files from end to end, checks every byte,"
          + " opens the"
          + " folder with checkpoints, and opens it without.",
      "",
      "Ends with 1 if the check takes more than 1.25 times the read of its round, if opening takes more than 1 s"
          + " per 10 GB,"
          + " or 3 s without checkpoints; files of less than 1 GiB are measured and not judged. Ends with 74 if the"
          + " folder"
          + " cannot be measured.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench recovery --size 10GiB --block-bytes 1MiB --cold", ""})
public final class RecoveryCommand extends Bench<RecoveryReport> {
  @Option(names = "--dir", paramLabel = "FOLDER",
      description = "The folder of blocks. A folder of an earlier run with the same options is measured as it is; a"
          + " new one is written and kept (default: a temporary folder, deleted afterwards). "
          + Folders.MADE)
  private @Nullable Path dir;

  @Option(names = "--engine", paramLabel = "NAME",
      description = "chronicle or plain (default: ${DEFAULT-VALUE}).", defaultValue = "chronicle")
  private EngineKind engine = EngineKind.CHRONICLE;

  @Option(names = "--size", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of blocks to write (default: ${DEFAULT-VALUE}).", defaultValue = "2GiB")
  private long size;

  @Option(names = "--block-bytes", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of a block (default: ${DEFAULT-VALUE}).", defaultValue = "64KiB")
  private long blockBytes;

  @Option(names = "--segment", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of a segment (default: ${DEFAULT-VALUE}).", defaultValue = "1GiB")
  private long segment;

  @Option(names = "--rounds", paramLabel = "N",
      description = "Number of rounds; 0 only writes the folder (default: ${DEFAULT-VALUE}).",
      defaultValue = "3")
  private int rounds;

  @Option(names = "--cold",
      description = "Drop the files from the system's cache before each step; else all of them are in it.")
  private boolean cold;

  RecoveryCommand(Console console) {
    super(console);
  }

  @Override
  protected @Nullable RecoveryReport measured() throws IOException {
    RecoveryLoad load =
        new RecoveryLoad(engine, size, Math.clamp(blockBytes, 0, Integer.MAX_VALUE), segment, rounds, cold);
    if (dir != null) {
      boolean isNew = !Files.exists(dir);
      return run(load, Folders.make(console::say, "--dir", dir), isNew);
    }
    try (TemporaryFolder place = TemporaryFolder.create("penstock-bench-")) {
      return run(load, place.path().resolve("journal"), true);
    }
  }

  private @Nullable RecoveryReport run(RecoveryLoad load, Path journal, boolean isNew) throws IOException {
    RecoveryBench bench = new RecoveryBench(load, journal);
    if (isNew) {
      console.say("writing " + Sizes.human(load.bytes()) + " to " + journal);
      bench.build(console);
    }
    if (load.rounds() == 0) {
      return null;
    }
    try (Progress progress = Progress.of(console, "bench recovery", "steps")) {
      return bench.run(progress);
    }
  }
}
