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
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Takes damage out of a journal's way, so that it opens with all that is good and a check finds nothing: mends what
/// can be known, sets the rest aside, cuts off torn ends. A good record is never written to. To run it again, also
/// after it was ended in the midst, is safe. Waits for the disk: not for an event loop.
public final class JournalRepair {
  private final JournalFiles files;
  private final Quarantine quarantine;
  private final Checkpoints checkpoints;
  private final List<RepairAction> actions = new ArrayList<>();

  private JournalRepair(JournalFiles files) {
    this.files = files;
    this.quarantine = new Quarantine(files.directory());
    this.checkpoints = new Checkpoints(files.directory());
  }

  /// Checks the journal in `directory`, and repairs what is damaged. Nobody can open it meanwhile.
  ///
  /// @throws JournalFormatException if there is no journal, or one of another version
  /// @throws RecordVersionException if a newer release wrote a record of it
  /// @throws DirectoryLockedException if somebody has it open
  /// @throws StorageFailedException if it cannot be read or written
  public static RepairReport run(Path directory, CheckProgress progress) {
    try (JournalFiles files = JournalFiles.writing(directory)) {
      return run(files, progress, SegmentWindow::open);
    }
  }

  /// @param opening of a segment's file, to be checked
  static RepairReport run(JournalFiles files, CheckProgress progress, Function<Path, SegmentWindow> opening) {
    CheckReport found = JournalCheck.run(files, progress, opening);
    JournalRepair repair = new JournalRepair(files);
    repair.all(found);
    return new RepairReport(found.directory(), found.engine(), found.live(), repair.actions);
  }

  private void all(CheckReport found) {
    for (JournalFiles.Stored segment : files.segments()) {
      List<Damage> damage = found.damage().stream().filter(each -> each.segment() == segment.number()).toList();
      if (!damage.isEmpty()) {
        repair(segment, damage);
      }
    }
  }

  private void repair(JournalFiles.Stored segment, List<Damage> damage) {
    // Its checkpoint may name what can still be read
    if (damage.stream().anyMatch(each -> each.kind() == DamageKind.UNREADABLE)) {
      damage.forEach(each -> actions.add(new RepairAction(each, RepairAction.Done.GIVEN_UP, null)));
      return;
    }
    checkpoints.delete(segment.number()); // first: it must not name what is taken out
    try (FileChannel file = FileChannel.open(segment.path(), StandardOpenOption.READ, StandardOpenOption.WRITE);
        SegmentWindow window = SegmentWindow.open(segment.path())) {
      SegmentPatch patch = new SegmentPatch(files.frames(), segment.number(), file, window);
      for (Damage each : damage) {
        actions.add(repair(each, patch, file, window));
      }
      file.force(true);
    } catch (IOException e) {
      throw new StorageFailedException("repair " + segment.path(), e);
    }
  }

  private RepairAction repair(Damage damage, SegmentPatch patch, FileChannel file, SegmentWindow window)
      throws IOException {
    Frames frames = files.frames();
    long record = damage.offset() + frames.bytes();
    switch (damage.kind()) {
      case SEGMENT_HEAD -> {
        String kept = keep(file, damage.length(), damage);
        patch.head();
        return new RepairAction(damage, RepairAction.Done.MENDED, kept);
      }
      case MARK, PADDING -> {
        patch.finish(record);
        return new RepairAction(damage, RepairAction.Done.MENDED, null);
      }
      case HEAD, PAYLOAD -> {
        String kept = keep(file, damage.length(), damage);
        patch.skip(damage.offset());
        return new RepairAction(damage, RepairAction.Done.SET_ASIDE, kept);
      }
      case FRAME -> {
        return bridge(damage, patch, file);
      }
      case TORN -> {
        String kept = keep(file, window.endOfData(damage.offset()) - damage.offset(), damage);
        patch.cut(damage.offset());
        return new RepairAction(damage, RepairAction.Done.CUT, kept);
      }
      case CHECKPOINT -> {
        return new RepairAction(damage, RepairAction.Done.DELETED, null);
      }
      case MISSING, UNREADABLE -> {
        return new RepairAction(damage, RepairAction.Done.GIVEN_UP, null);
      }
    }
    throw new IllegalStateException("kind of damage must be known (was " + damage.kind() + ")");
  }

  private RepairAction bridge(Damage damage, SegmentPatch patch, FileChannel file) throws IOException {
    long record = damage.offset() + damage.length();
    if (!patch.canBridge(damage.offset(), record)) {
      return new RepairAction(damage, RepairAction.Done.GIVEN_UP, null);
    }
    long lost = damage.length() - files.frames().bytes();
    String kept = keep(file, lost, damage);
    patch.bridge(damage.offset(), record);
    return new RepairAction(damage, lost == 0 ? RepairAction.Done.MENDED : RepairAction.Done.SET_ASIDE, kept);
  }

  private @Nullable String keep(FileChannel file, long length, Damage damage) {
    return length == 0 ? null : quarantine.keep(file, damage.offset(), length, damage);
  }
}
