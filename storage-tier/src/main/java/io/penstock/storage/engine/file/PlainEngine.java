package io.penstock.storage.engine.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.FreeSpace;
import io.penstock.storage.engine.RecordParts;
import io.penstock.storage.engine.SegmentWindow;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// A log of plain files: one gathering write appends a record, one positioned read gives it back. The engine appends
/// through no mapping and needs no JVM flag.
public final class PlainEngine extends FileEngine {
  /// As in `SegmentEngine.name()`.
  public static final String NAME = "plain";

  private PlainEngine(Path directory, EngineOptions options, FreeSpace space) {
    super(NAME, EngineDirectory.open(directory, NAME), options, space);
  }

  /// Opens the journal in `directory`, which is made if it is not there.
  ///
  /// @throws DirectoryLockedException if another process has it open
  /// @throws JournalFormatException if something else, or another version, wrote it
  public static PlainEngine open(Path directory, EngineOptions options) {
    return open(directory, options, FreeSpace.of(directory));
  }

  /// Opens the engine with another source for the free space.
  public static PlainEngine open(Path directory, EngineOptions options, FreeSpace space) {
    PlainEngine engine = new PlainEngine(directory, options, space);
    return engine.opened(engine);
  }

  @Override
  boolean isPlain() {
    return true;
  }

  @Override
  @GuardedBy("this") SegmentFile create(EngineDirectory in, SpareSegments from, int number) throws IOException {
    Path path = in.path().resolve(PlainFormat.fileName(number));
    ByteBuffer head = SegmentHead.of(number);
    if (from.begin(path, head)) {
      SegmentFile anew = SegmentFile.existing(number, path);
      anew.end(SegmentHead.BYTES);
      return anew;
    }
    SegmentFile file = SegmentFile.create(number, path);
    try {
      FileBytes.write(file.channel(), 0, head);
    } catch (IOException e) {
      Files.deleteIfExists(file.path());
      file.release();
      throw e;
    }
    file.end(SegmentHead.BYTES);
    return file;
  }

  @Override
  @GuardedBy("this") long endAfter(SegmentFile file, int length) {
    return file.end() + length;
  }

  @Override
  @GuardedBy("this") long write(SegmentFile file, MemorySegment[] parts, int length) throws IOException {
    long offset = file.end();
    FileBytes.writeAll(file.channel(), offset, RecordParts.buffers(parts, 0));
    return offset;
  }

  @Override
  SegmentWindow window(SegmentWindow file, int segment) {
    return SegmentHead.window(file);
  }

  @Override
  void afterDelete(SegmentFile file) {
    // a segment has no folder of its own
  }

  @Override
  void ended(SegmentFile file) throws IOException {
    file.channel().truncate(file.end()); // removes what a spare file had there before
    file.grown();
  }

  @Override
  @GuardedBy("this")
  void abandon() {
    // each segment is a file of its own
  }

  @Override
  @GuardedBy("this")
  void finish(@Nullable SegmentFile last) throws IOException {
    if (last != null) {
      ended(last);
    }
  }
}
