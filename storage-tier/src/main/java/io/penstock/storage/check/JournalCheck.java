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
import java.util.Map;

/// Reads every byte of a journal and compares: frames, heads, commit marks, every granule of every block, dead ones, too. Changes nothing,
/// needs neither the engine nor the cache space, and goes on behind damage. What a checkpoint names must be there. Waits for the disk: not for an event loop.
public final class JournalCheck {
  private final JournalFiles files;
  private final CheckProgress progress;
  private final Checkpoints checkpoints;
  private final Inventory inventory = new Inventory();
  private final List<Damage> damage = new ArrayList<>();
  private final List<SegmentTally> tallies = new ArrayList<>();

  private JournalCheck(JournalFiles files, CheckProgress progress) {
    this.files = files;
    this.progress = progress;
    this.checkpoints = new Checkpoints(files.directory());
  }

  /// Checks the journal in `directory`. Nobody can write it meanwhile.
  ///
  /// @throws JournalFormatException if there is no journal, or one of another version
  /// @throws RecordVersionException if a newer release wrote a record of it
  /// @throws DirectoryLockedException if somebody writes it
  /// @throws StorageFailedException if it cannot be read
  public static CheckReport run(Path directory, CheckProgress progress) {
    try (JournalFiles files = JournalFiles.reading(directory)) {
      return run(files, progress);
    }
  }

  static CheckReport run(JournalFiles files, CheckProgress progress) {
    return new JournalCheck(files, progress).all();
  }

  private CheckReport all() {
    List<JournalFiles.Stored> segments = files.segments();
    long of = segments.stream().mapToLong(JournalCheck::bytes).sum();
    long done = 0;
    long highest = 0;
    progress.read(0, of);
    for (JournalFiles.Stored segment : segments) {
      highest = check(segment, highest);
      done += bytes(segment);
      progress.read(Math.min(done, of), of);
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

  private long check(JournalFiles.Stored segment, long highest) {
    Frames frames = files.frames();
    try (SegmentWindow file = SegmentWindow.open(segment.path())) {
      SegmentTally tally = new SegmentTally(segment, file.size(), frames.bytes(), inventory);
      tallies.add(tally);
      if (!frames.hasHead(file, segment.path(), segment.number())) {
        tally.damaged(0, Math.min(file.size(), frames.start()), DamageKind.SEGMENT_HEAD, "segment must begin with its head (was something else)");
      }
      long last = new SegmentWalk(frames, segment.number(), file, highest, tally).run();
      if (checkpoints.exists(segment.number())) {
        tally.compare(checkpoints.read(segment.number()));
      }
      damage.addAll(tally.damage());
      return last;
    }
  }

  private CheckReport report() {
    Map<Integer, Long> live = inventory.live();
    Map<Integer, Long> dead = inventory.dead();
    List<SegmentReport> segments = tallies.stream().map(each -> each.report(files.directory(), live.getOrDefault(each.segment(), 0L),
        dead.getOrDefault(each.segment(), 0L))).toList();
    List<Damage> known = damage.stream().map(each -> each.withLive(each.key() == null || inventory.isMissed(each.sequence()))).toList();
    return new CheckReport(files.directory().toString(), files.frames().engine(), known.isEmpty(), segments, known);
  }
}
