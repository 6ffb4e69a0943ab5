package io.penstock.storage.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.system.NativeFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A segment that is a file. What the system has in memory of it is copied, the rest is read with positioned reads: a
/// page that is gone is an error then, not a signal that ends the process.
final class SegmentFile extends StoredSegment {
  private final Path path;
  private final FileChannel channel;
  /// What tells this file from another of its name.
  private final @Nullable Object key;
  private final SegmentView view;
  /// Where the file goes when it is deleted, and its name there.
  private @Nullable SpareSegments spares;
  private @Nullable Path spare;
  /// Guarded by [CachedFiles].
  private long forcedTo;
  /// The same file for calls that Java does not have; null where the system does not have them.
  @GuardedBy("this") private @Nullable NativeFile descriptor;
  @GuardedBy("this") private boolean descriptorTried;

  private SegmentFile(int number, Path path, FileChannel channel, long end) throws IOException {
    super(number, end);
    this.key = key(path);
    this.path = path;
    this.channel = channel;
    this.view = new SegmentView(channel, end == 0);
  }

  /// A new file for `number`; nothing may lie at `path`.
  static SegmentFile create(int number, Path path) throws IOException {
    return open(number, path, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  /// A file that is there: of an earlier run, or a spare that was begun anew.
  static SegmentFile existing(int number, Path path) throws IOException {
    return open(number, path, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  private static SegmentFile open(int number, Path path, Set<OpenOption> options) throws IOException {
    FileChannel channel = FileChannel.open(path, options);
    try {
      return new SegmentFile(number, path, channel, channel.size());
    } catch (Throwable e) {
      channel.close();
      throw e;
    }
  }

  /// Nothing more is appended.
  void grown() {
    view.grown();
  }

  /// Has the system take the bytes from `from` to `to` out of its memory, if they are on the medium. The thread that
  /// calls holds the segment.
  void letGo(long from, long to) throws IOException {
    view.letGo(path, from, to);
  }

  /// Has the file become a spare of `pool` when it is deleted.
  void spareTo(SpareSegments pool) {
    spares = pool;
  }

  /// As far as [CachedFiles] knows it to be on the medium.
  long forcedTo() {
    return forcedTo;
  }

  void forcedTo(long end) {
    forcedTo = end;
  }

  Path path() {
    return path;
  }

  /// Whether the file still has its name: what is written to one that was deleted is gone after a restart.
  boolean isThere() throws IOException {
    try {
      return Objects.equals(key, key(path));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static @Nullable Object key(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  /// Gives back what lies behind `newEnd`.
  void cut(long newEnd) throws IOException {
    channel.truncate(newEnd);
    end(Math.min(end(), newEnd));
  }

  FileChannel channel() {
    return channel;
  }

  @Override
  void read(long offset, MemorySegment[] parts) throws IOException {
    if (!view.read(offset, parts) && (parts.length == 1 || !readAtOnce(offset, parts))) {
      Transfer.readFromBehind(channel, offset, parts);
    }
  }

  /// A head on the page before its payload would be another wait for the medium.
  private boolean readAtOnce(long offset, MemorySegment[] parts) {
    NativeFile open = descriptor();
    return open != null && NativePages.readAtOnce(open, offset, parts);
  }

  private synchronized @Nullable NativeFile descriptor() {
    if (!descriptorTried) {
      descriptorTried = true;
      descriptor = NativePages.openToAdvise(path);
    }
    return descriptor;
  }

  @Override
  void readOnce(long offset, MemorySegment[] parts) throws IOException {
    long end = offset + RecordParts.bytes(parts);
    if (view.read(offset, parts)) {
      return;
    }
    boolean wasAway = view.covers(end); // else that is unknown
    if (!wasAway || !NativePages.readWithoutReadahead(path, offset, parts)) {
      Transfer.readFromBehind(channel, offset, parts);
    }
    if (wasAway) {
      letGo(offset, end);
    }
  }

  @Override
  void force() throws IOException {
    channel.force(false);
  }

  @Override
  void unlink() throws IOException {
    SpareSegments pool = spares;
    if (pool == null) {
      Files.deleteIfExists(path);
    } else {
      spare = pool.keep(path);
    }
  }

  @Override
  void drop() {
    view.close();
    closeDescriptor();
    try {
      channel.close();
    } catch (IOException e) {
      // the reader who was the last cannot do anything about it
    }
    Path renamed = spare;
    SpareSegments pool = spares;
    if (renamed != null && pool != null) {
      pool.free(renamed);
    }
  }

  private synchronized void closeDescriptor() {
    if (descriptor != null) {
      descriptor.close();
    }
  }
}
