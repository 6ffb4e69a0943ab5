package io.penstock.storage.check;

import io.penstock.storage.checkpoint.Checkpoints;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.engine.file.JournalFiles;
import io.penstock.storage.record.RecordVersionException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.Stream;

/// Reads and compares every byte of a journal: heads, commit marks, every granule of every block, also of dead ones.
/// Changes nothing, needs neither the engine nor the cache space, and goes on behind damage. Every record of a
/// checkpoint must be there. Waits for the disk, on up to two threads of its own, which end with the check: not for an
/// event loop.
public final class JournalCheck {
  private static final int LANES = Math.min(2, Runtime.getRuntime().availableProcessors());

  private final JournalFiles files;
  private final CheckProgress progress;
  private final Function<Path, SegmentWindow> opening;
  private final Checkpoints checkpoints;
  private final Inventory inventory = new Inventory();
  private final List<Damage> damage = new ArrayList<>();
  private final List<SegmentReport> reports = new ArrayList<>();

  private JournalCheck(JournalFiles files, CheckProgress progress, Function<Path, SegmentWindow> opening) {
    this.files = files;
    this.progress = progress;
    this.opening = opening;
    this.checkpoints = new Checkpoints(files.directory());
  }

  /// The journals of a disk level in `directory`: the one in itself, and one in a folder for each space, as a node with
  /// several spaces has them.
  ///
  /// @return in the order of their names; `directory` alone if there is none
  /// @throws StorageFailedException if the directory cannot be read
  public static List<Path> journals(Path directory) {
    try (Stream<Path> inside = Files.list(directory)) {
      List<Path> all = Stream.concat(Stream.of(directory), inside.sorted()).filter(JournalFiles::isJournal).toList();
      return all.isEmpty() ? List.of(directory) : all;
    } catch (IOException e) {
      throw new StorageFailedException("read " + directory, e);
    } catch (UncheckedIOException e) {
      throw new StorageFailedException("read " + directory, new IOException(e));
    }
  }

  /// Checks the journal in `directory`, which no process can open meanwhile. Bytes that the medium does not give count
  /// as damage.
  ///
  /// @throws JournalFormatException if there is no journal, or one of another version or engine
  /// @throws RecordVersionException if a newer release wrote a record
  /// @throws DirectoryLockedException if a process has the journal open
  /// @throws StorageFailedException if a file cannot be opened
  public static CheckReport run(Path directory, CheckProgress progress) {
    try (JournalFiles files = JournalFiles.reading(directory)) {
      return run(files, progress, SegmentWindow::open);
    }
  }

  /// @param opening of a segment's file
  static CheckReport run(JournalFiles files, CheckProgress progress, Function<Path, SegmentWindow> opening) {
    return new JournalCheck(files, progress, opening).all();
  }

  private CheckReport all() {
    List<JournalFiles.Stored> segments = files.segments();
    long of = segments.stream().mapToLong(JournalCheck::bytes).sum();
    long done = 0;
    progress.read(0, of);
    ArrayDeque<Future<SegmentCheck>> begun = new ArrayDeque<>();
    try (ExecutorService lanes =
        Executors.newFixedThreadPool(LANES, Thread.ofPlatform().daemon().name("journal-check-", 0).factory())) {
      for (int i = 0; i < segments.size(); i++) {
        for (int next = i + begun.size(); next < Math.min(segments.size(), i + LANES); next++) {
          JournalFiles.Stored segment = segments.get(next);
          begun.add(lanes.submit(() -> check(segment)));
        }
        take(segments.get(i), ended(begun.remove()));
        done += bytes(segments.get(i));
        progress.read(Math.min(done, of), of);
      }
    }
    return report();
  }

  private static long bytes(JournalFiles.Stored segment) {
    try {
      return Files.isRegularFile(segment.path()) ? Files.size(segment.path()) : 0;
    } catch (IOException e) {
      throw new StorageFailedException("read " + segment.path(), e);
    }
  }

  private SegmentCheck check(JournalFiles.Stored segment) {
    if (!Files.isRegularFile(segment.path())) {
      return SegmentCheck.noFile(segment);
    }
    try (SegmentWindow file = files.window(opening.apply(segment.path()))) {
      return new SegmentCheck(segment, file).run();
    }
  }

  private static SegmentCheck ended(Future<SegmentCheck> check) {
    try {
      return check.get();
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RuntimeException failure -> throw failure;
        case Error failure -> throw failure;
        case null, default -> throw new IllegalStateException(e);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("a check must not be interrupted", e);
    }
  }

  private void take(JournalFiles.Stored segment, SegmentCheck check) {
    if (checkpoints.exists(segment.number())) {
      check.compare(checkpoints.read(segment.number()));
    }
    reports.add(check.report(files.directory()));
    damage.addAll(check.damage());
    check.addTo(inventory);
  }

  private CheckReport report() {
    List<SegmentReport> segments = reports.stream().map(each -> each.withDead(inventory.dead(each.segment()))).toList();
    List<Damage> known = damage.stream()
        .map(each -> each.withLive(each.live() && (each.key() == null || inventory.isMissed(each.sequence()))))
        .toList();
    return new CheckReport(files.directory().toString(), files.engine(), known.isEmpty(), segments, known);
  }
}
