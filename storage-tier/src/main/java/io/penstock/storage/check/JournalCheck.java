package io.penstock.storage.check;

import io.penstock.storage.checkpoint.Checkpoints;
import io.penstock.storage.engine.DirectoryLockedException;
import io.penstock.storage.engine.Frames;
import io.penstock.storage.engine.JournalFiles;
import io.penstock.storage.engine.JournalFormatException;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.record.RecordVersionException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// Reads every byte of a journal and compares: frames, heads, commit marks, every granule of every block, dead ones,
/// too. Changes nothing, needs neither the engine nor the cache space, and goes on behind damage. What a checkpoint
/// names must be there. Waits for the disk, on up to two threads of its own, which end with it: not for an event loop.
public final class JournalCheck {
  private final JournalFiles files;
  private final CheckProgress progress;
  private final Function<Path, SegmentWindow> opening;
  private final boolean isInParts;
  private final Checkpoints checkpoints;
  private final Inventory inventory = new Inventory();
  private final List<Damage> damage = new ArrayList<>();
  private final List<SegmentReport> reports = new ArrayList<>();

  private JournalCheck(JournalFiles files, CheckProgress progress, Function<Path, SegmentWindow> opening,
      boolean isInParts) {
    this.isInParts = isInParts;
    this.files = files;
    this.progress = progress;
    this.opening = opening;
    this.checkpoints = new Checkpoints(files.directory());
  }

  /// Checks the journal in `directory`. Nobody can write it meanwhile. What the medium does not give of a segment is
  /// damage; all else is checked.
  ///
  /// @throws JournalFormatException if there is no journal, or one of another version
  /// @throws RecordVersionException if a newer release wrote a record of it
  /// @throws DirectoryLockedException if somebody writes it
  /// @throws StorageFailedException if a file of it cannot be opened
  public static CheckReport run(Path directory, CheckProgress progress) {
    try (JournalFiles files = JournalFiles.reading(directory)) {
      return run(files, progress, SegmentWindow::open);
    }
  }

  /// @param opening of a segment's file
  static CheckReport run(JournalFiles files, CheckProgress progress, Function<Path, SegmentWindow> opening) {
    return run(files, progress, opening, true);
  }

  /// @param isInParts whether two threads work at one segment: what is found is the same
  static CheckReport run(JournalFiles files, CheckProgress progress, Function<Path, SegmentWindow> opening,
      boolean isInParts) {
    return new JournalCheck(files, progress, opening, isInParts).all();
  }

  private CheckReport all() {
    List<JournalFiles.Stored> segments = files.segments();
    long of = segments.stream().mapToLong(JournalCheck::bytes).sum();
    long done = 0;
    long highest = 0;
    progress.read(0, of);
    try (SegmentWalks walks = new SegmentWalks(segments, this::walk, this::middle)) {
      for (JournalFiles.Stored segment : segments) {
        SegmentTally tally = walks.next(highest);
        highest = Math.max(highest, tally.highest());
        take(tally);
        done += bytes(segment);
        progress.read(Math.min(done, of), of);
      }
    }
    inventory.settle();
    return report();
  }

  private static long bytes(JournalFiles.Stored segment) {
    try {
      return Files.size(segment.path());
    } catch (IOException e) {
      throw new StorageFailedException("read " + segment.path(), e);
    }
  }

  private SegmentTally walk(JournalFiles.Stored segment, SegmentWalk.Part part, long before) {
    Frames frames = files.frames();
    try (SegmentWindow file = opening.apply(segment.path())) {
      SegmentTally tally = new SegmentTally(segment, file.size(), frames.bytes());
      SegmentWalk walk = new SegmentWalk(frames, segment.number(), file, part, before, tally);
      walk.run();
      tally.walked(walk);
      return tally;
    }
  }

  private long middle(JournalFiles.Stored segment) {
    if (!isInParts) {
      return 0;
    }
    try (SegmentWindow file = opening.apply(segment.path())) {
      SegmentTally nothing = new SegmentTally(segment, file.size(), 0);
      return new SegmentWalk(files.frames(), segment.number(), file, SegmentWalk.Part.ALL, 0, nothing).middle();
    }
  }

  private void take(SegmentTally tally) {
    if (checkpoints.exists(tally.segment())) {
      tally.compare(checkpoints.read(tally.segment()));
    }
    reports.add(tally.report(files.directory()));
    damage.addAll(tally.damage());
    tally.addTo(inventory);
  }

  private CheckReport report() {
    List<SegmentReport> segments = reports.stream().map(each -> each.withDead(inventory.dead(each.segment()))).toList();
    List<Damage> known =
        damage.stream().map(each -> each.withLive(each.key() == null || inventory.isMissed(each.sequence()))).toList();
    return new CheckReport(files.directory().toString(), files.frames().engine(), known.isEmpty(), segments, known);
  }
}
