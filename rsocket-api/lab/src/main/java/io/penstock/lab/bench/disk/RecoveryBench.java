package io.penstock.lab.bench.disk;

import io.penstock.block.CacheSpace;
import io.penstock.lab.bench.disk.RecoveryReport.Journal;
import io.penstock.lab.bench.disk.RecoveryReport.Round;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import io.penstock.node.shape.BlockShape;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.engine.file.JournalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// In each round opens a journal with its checkpoints and without, checks every byte, and reads the same files from end
/// to end.
final class RecoveryBench {
  private static final int LAYERS = 16;
  private static final long STEPS = 4;

  private final RecoveryLoad load;
  private final Path directory;
  private final JournalOptions options;
  private final CacheSpace space;
  private long steps;
  private long step;

  RecoveryBench(RecoveryLoad load, Path directory) {
    this.load = load;
    this.directory = directory;
    this.options = JournalOptions.defaults(directory).withEngine(load.engine()).withSegmentBytes(load.segmentBytes());
    this.space = CacheSpace.of("bench", BlockShape.of(load.blockBytes(), LAYERS).layout());
  }

  /// Writes the journal, and answers how many blocks are in it.
  int build(Console console) {
    try (LiveBlocks blocks = new LiveBlocks(space, load.blocks(), 0);
        Progress progress = Progress.of(console, "writing", "blocks")) {
      JournalStore store = JournalStore.open(space, options);
      try {
        blocks.fill(store, done -> progress.at(done, load.blocks()));
      } finally {
        store.close().block();
      }
    }
    return load.blocks();
  }

  /// @param progress counts steps: four a round
  RecoveryReport run(Progress progress) throws IOException {
    Journal journal = journal();
    List<Round> rounds = new ArrayList<>();
    int first = load.cold() ? 0 : -1; // the system's cache is filled by a round that does not count
    steps = STEPS * (load.rounds() - first);
    for (int i = first; i < load.rounds(); i++) {
      progress.next(i < 0 ? "warm-up" : "round %d of %d".formatted(i + 1, load.rounds()));
      Round round = round(journal, i % 2 == 0, progress);
      if (i >= 0) {
        rounds.add(round);
      }
    }
    return RecoveryReport.of(load, journal, rounds);
  }

  private double step(double seconds, Progress progress) {
    step++;
    progress.at(step, steps);
    return seconds;
  }

  /// Opens the journal without checkpoints, which gives back the space reserved behind its last record.
  private Journal journal() throws IOException {
    deleteCheckpoints();
    JournalStore store = JournalStore.open(space, options);
    long blocks = store.recovery().blocks();
    store.close().block();
    if (blocks == 0) {
      throw new IOException(
          "--dir must be a folder with blocks, or one that is not there (was %s, which has none)".formatted(directory));
    }
    try (JournalFiles files = JournalFiles.reading(directory)) {
      long bytes = 0;
      for (JournalFiles.Stored segment : files.segments()) {
        bytes += Files.size(segment.path());
      }
      return new Journal(files.segments().size(), bytes, blocks);
    }
  }

  /// The read and the check take turns at being first, for the first may fill a cache below the system's own.
  private Round round(Journal journal, boolean readsFirst, Progress progress) throws IOException {
    double first = readsFirst ? step(read(), progress) : 0;
    double check = step(check(journal), progress);
    double read = readsFirst ? first : step(read(), progress);
    double open = step(open(journal), progress);
    deleteCheckpoints();
    return new Round(read, check, open, step(open(journal), progress)); // this opening writes them again
  }

  private long begin() throws IOException {
    if (load.cold()) {
      JournalFiles.letGo(directory);
    }
    return System.nanoTime();
  }

  private static double secondsSince(long began) {
    return (System.nanoTime() - began) / 1e9;
  }

  private double read() throws IOException {
    long began = begin();
    readAll();
    return secondsSince(began);
  }

  private double check(Journal journal) throws IOException {
    long began = begin();
    CheckReport report = JournalCheck.run(directory, CheckProgress.none());
    double seconds = secondsSince(began);
    if (!report.clean()) {
      throw new IOException(
          "--dir must be a folder without damage (was %s): %s".formatted(directory, report.damage().getFirst()));
    }
    requireAll(report.live(), journal);
    return seconds;
  }

  private double open(Journal journal) throws IOException {
    long began = begin();
    JournalStore store = JournalStore.open(space, options);
    double seconds = secondsSince(began);
    store.close().block();
    requireAll(store.recovery().blocks(), journal);
    return seconds;
  }

  private void readAll() throws IOException {
    ByteBuffer piece = ByteBuffer.allocateDirect(SegmentWindow.BYTES);
    try (JournalFiles files = JournalFiles.reading(directory)) {
      for (JournalFiles.Stored segment : files.segments()) {
        try (FileChannel file = FileChannel.open(segment.path(), StandardOpenOption.READ)) {
          while (file.read(piece.clear()) >= 0) {
            // reads to the end
          }
        }
      }
    }
  }

  private void deleteCheckpoints() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(each -> each.getFileName().toString().startsWith("checkpoint-")).toList()) {
        Files.delete(file);
      }
    }
  }

  private static void requireAll(long found, Journal journal) {
    if (found != journal.blocks()) {
      throw new IllegalStateException("blocks found must be " + journal.blocks() + " (was " + found + ")");
    }
  }
}
