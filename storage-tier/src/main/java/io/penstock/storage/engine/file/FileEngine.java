package io.penstock.storage.engine.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.block.Owned;
import io.penstock.storage.engine.DiskSpace;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.FreeSpace;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.RecordParts;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.SegmentWindow;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Common part of engines on files. Changes of the log hold one lock; reads hold none.
abstract class FileEngine implements SegmentEngine {
  private static final long LOOK_NANOS = 1_000_000_000;

  private final String name;
  private final EngineDirectory directory;
  private final EngineOptions options;
  private final FreeSpace space;
  private final SegmentTable table;
  private final SpareSegments spares;
  private final CachedFiles cached;
  private final ForcedSegments forced;
  @GuardedBy("this") private @Nullable SegmentFile active;
  /// Time at which the active file was last seen under its name.
  @GuardedBy("this") private long lookedAt = System.nanoTime();

  FileEngine(String name, EngineDirectory directory, EngineOptions options, FreeSpace space) {
    this.name = name;
    this.directory = directory;
    this.options = options;
    this.space = space;
    this.table = new SegmentTable(name);
    this.spares =
        new SpareSegments(directory.path(), options.spareSegments(), options.segmentBytes() - options.maxRecordBytes());
    this.cached = new CachedFiles(options.cacheBytes());
    this.forced = new ForcedSegments(directory.path(), table, cached);
  }

  /// Finds the segments of earlier runs. Closes the engine if that fails.
  final <E extends FileEngine> E opened(E self) {
    try {
      spares.clear();
      directory.clear();
      removeEmptyRuns(directory.path());
      for (JournalFiles.Stored each : JournalFiles.segments(directory.path(), isPlain())) {
        table.add(SegmentFile.existing(each.number(), each.path()));
      }
      return self;
    } catch (IOException e) {
      closeAfter(e);
      throw new StorageFailedException("open journal " + directory.path(), e);
    } catch (Throwable e) { // else the directory stays locked
      closeAfter(e);
      throw e;
    }
  }

  private void closeAfter(Throwable first) {
    try {
      close();
    } catch (RuntimeException e) {
      first.addSuppressed(e);
    }
  }

  /// Whether segments lie in the directory itself.
  abstract boolean isPlain();

  /// Deletes folders of earlier runs that have no segment left.
  void removeEmptyRuns(Path from) throws IOException {}

  /// Makes the file of a new segment, from a spare file if there is one.
  @GuardedBy("this") abstract SegmentFile create(EngineDirectory in, SpareSegments from, int number) throws IOException;

  /// Ends writing to `file`.
  abstract void ended(SegmentFile file) throws IOException;

  /// Whether the engine may still have the file of `segment` mapped.
  @GuardedBy("this") boolean isMapped(int segment) {
    return false;
  }

  /// Length of `file` after another record of `length`.
  @GuardedBy("this") abstract long endAfter(SegmentFile file, int length);

  /// Writes a record behind the end of `file`.
  ///
  /// @return its offset
  @GuardedBy("this") abstract long write(SegmentFile file, MemorySegment[] parts, int length) throws IOException;

  /// Sets the start of records in `file`.
  abstract SegmentWindow window(SegmentWindow file, int segment);

  /// A write to the active segment failed: the next segment starts in a new file. Throws nothing.
  @GuardedBy("this") abstract void abandon();

  /// `file` was deleted.
  abstract void afterDelete(SegmentFile file) throws IOException;

  /// Ends all writing.
  ///
  /// @param last the active segment, if there is one
  @GuardedBy("this") abstract void finish(@Nullable SegmentFile last) throws IOException;

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final Path directory() {
    return directory.path();
  }

  final EngineOptions options() {
    return options;
  }

  @Override
  public final int maxRecordBytes() {
    return options.maxRecordBytes();
  }

  @Override
  public final synchronized int segmentFor(int length) {
    table.requireOpen();
    return fileFor(length).number();
  }

  @GuardedBy("this") private SegmentFile fileFor(int length) {
    SegmentFile file = active;
    if (file != null && isTakenAway(file)) {
      active = null;
      abandon();
      return begin();
    }
    return file == null || endAfter(file, length) > options.segmentBytes() ? begin() : file;
  }

  /// Looks at most once a second, since a look is a system call.
  @GuardedBy("this") private boolean isTakenAway(SegmentFile file) {
    long now = System.nanoTime();
    if (now - lookedAt < LOOK_NANOS) {
      return false;
    }
    lookedAt = now;
    try {
      if (!file.isLost()) {
        return false;
      }
    } catch (IOException e) {
      return false; // the append will fail
    }
    file.abandon();
    return true;
  }

  @Override
  public final synchronized Location append(MemorySegment... parts) {
    table.requireOpen();
    int length = RecordParts.length(parts, maxRecordBytes());
    SegmentFile file = fileFor(length);
    try {
      long offset = write(file, parts, length);
      file.end(offset + length);
      return new Location(file.number(), offset, length);
    } catch (IOException e) {
      throw abandoned("append to", length, e);
    } catch (RuntimeException | InternalError e) { // from the library, or since a page is gone
      throw abandoned("append to", length, new IOException(e));
    }
  }

  @GuardedBy("this") private SegmentFile begin() {
    endActive();
    try {
      if (spares.isEmpty()) {
        options.requireRoom(directory.path().toString(), space);
      }
      boolean anew = !spares.isEmpty();
      SegmentFile file = create(directory, spares, table.nextNumber());
      if (!anew) {
        requireKept(file);
      }
      table.add(file);
      active = file;
      return file;
    } catch (IOException e) {
      throw notBegun(e);
    } catch (KvException e) {
      throw e; // nothing was tried
    } catch (RuntimeException | InternalError e) {
      throw notBegun(new IOException(e));
    }
  }

  /// Another program may have reserved space at the same moment: then too little stays free.
  private void requireKept(SegmentFile file) throws IOException {
    long usable = space.usableBytes();
    if (usable < options.keepFreeBytes()) {
      Files.deleteIfExists(file.path());
      file.release();
      throw new StorageFullException(directory.path().toString(), options.segmentBytes() + options.keepFreeBytes(),
          usable, null);
    }
  }

  @GuardedBy("this") private RuntimeException notBegun(IOException e) {
    table.skipNumber(); // a file of that number may be there
    return abandoned("begin a segment of", options.segmentBytes(), e);
  }

  /// Ends appending to a segment that may end in half a record.
  @GuardedBy("this") private RuntimeException abandoned(String work, long needed, IOException e) {
    active = null;
    abandon();
    return failure(work, needed, e);
  }

  @GuardedBy("this") private void endActive() {
    SegmentFile file = active;
    active = null;
    if (file != null) {
      try {
        ended(file);
      } catch (IOException e) {
        throw new StorageFailedException("end segment " + file.number() + " of " + directory.path(), e);
      }
    }
  }

  @Override
  public final void probe() {
    table.requireOpen();
    try {
      directory.probe();
      if (spares.isEmpty()) {
        options.requireRoom(directory.path().toString(), space);
      }
    } catch (IOException e) {
      throw failure("write to", EngineDirectory.PROBE_BYTES, e);
    }
  }

  private RuntimeException failure(String work, long needed, IOException e) {
    try {
      long usable = space.usableBytes();
      if (usable < needed) {
        return new StorageFullException(directory.path().toString(), needed, usable, e);
      }
    } catch (IOException unknown) {
      e.addSuppressed(unknown);
    }
    return new StorageFailedException(work + " " + directory.path(), e);
  }

  @Override
  public final void read(Location record, long from, MemorySegment into) {
    table.read(record, from, into);
  }

  @Override
  public final void read(Location record, long from, MemorySegment first, MemorySegment next) {
    table.read(record, from, first, next);
  }

  @Override
  public final void readOnce(Location record, long from, MemorySegment into) {
    table.readOnce(record, from, into);
  }

  @Override
  public final Owned pin(int segment) {
    return table.pin(segment);
  }

  @Override
  public final synchronized void roll() {
    table.requireOpen();
    endActive();
  }

  @Override
  public final synchronized int activeSegment() {
    SegmentFile file = active;
    return file == null ? 0 : file.number();
  }

  @Override
  public final List<Integer> segments() {
    return table.numbers();
  }

  @Override
  public final SegmentWindow window(int segment, int pieceBytes) {
    SegmentFile held = table.hold(segment);
    try {
      return window(SegmentWindow.open(held.path(), pieceBytes), segment);
    } finally {
      held.release();
    }
  }

  @Override
  public final synchronized void cut(int segment, long end) {
    SegmentFile held = table.hold(segment);
    try {
      if (segment != activeSegment() && !isMapped(segment) && end < held.end()) {
        held.cut(end);
      }
    } catch (IOException e) {
      throw new StorageFailedException("cut segment " + segment + " of " + directory.path(), e);
    } finally {
      held.release();
    }
  }

  @Override
  public final synchronized void delete(int segment) {
    if (segment == activeSegment()) {
      throw new IllegalStateException("segment must not be the active one to be deleted (was " + segment + ")");
    }
    SegmentFile held = table.hold(segment);
    try {
      if (!isMapped(segment)) {
        held.spareTo(spares);
      }
      table.delete(segment);
      forced.deleted(held);
      cleanUp(held);
    } finally {
      held.release();
    }
  }

  private void cleanUp(SegmentFile deleted) {
    try {
      afterDelete(deleted);
    } catch (IOException e) {
      // the next opening removes the rest of the folder
    }
  }

  @Override
  public final void sync() {
    List<ForcedSegments.Written> unforced;
    synchronized (this) { // appending goes on during the sync
      unforced = forced.unforced();
    }
    try {
      forced.force(unforced);
    } catch (IOException e) {
      throw new StorageFailedException("sync " + directory.path(), e);
    }
  }

  @Override
  public final DiskSpace space() {
    try {
      return new DiskSpace(space.totalBytes(), space.usableBytes());
    } catch (IOException e) {
      throw new StorageFailedException("ask for the free space of " + directory.path(), e);
    }
  }

  @Override
  public final void trim() {
    cached.trim();
  }

  @Override
  public final synchronized void close() {
    SegmentFile last = active;
    active = null;
    if (!table.isOpen()) {
      return;
    }
    try {
      try {
        finish(last);
      } finally {
        table.close();
        spares.close();
      }
    } catch (IOException e) {
      throw new StorageFailedException("close " + directory.path(), e);
    } finally {
      directory.close();
    }
  }

  @Override
  public final String toString() {
    return name + " " + directory.path();
  }
}
