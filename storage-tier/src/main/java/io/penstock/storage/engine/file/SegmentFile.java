package io.penstock.storage.engine.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.storage.engine.NativePages;
import io.penstock.storage.engine.RecordParts;
import io.penstock.system.HoldCount;
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

/// A segment in a file. Bytes that the system has in memory are copied from a mapping. Others are read by positioned
/// reads: a page that is gone is then an error, not a signal that ends the process.
///
/// Holds count the users of the file: the engine until the segment is deleted, and each reader.
final class SegmentFile {
  private final int number;
  private final HoldCount holds = new HoldCount();
  private volatile long end;
  private volatile boolean deleting;
  private volatile boolean deleted;
  private volatile boolean abandoned;
  private final Path path;
  private final FileChannel channel;
  /// Key that distinguishes this file from another of its name.
  private final @Nullable Object key;
  private final SegmentView view;
  /// The pool that gets the file when it is deleted, and its name there.
  private @Nullable SpareSegments spares;
  private @Nullable Path spare;
  /// Guarded by [CachedFiles].
  private long forcedTo;
  /// This file for calls that Java does not have; null where the system has none.
  @GuardedBy("this") private @Nullable NativeFile descriptor;
  @GuardedBy("this") private boolean descriptorTried;

  private SegmentFile(int number, Path path, FileChannel channel, long end) throws IOException {
    this.number = number;
    this.end = end;
    holds.first();
    this.key = key(path);
    this.path = path;
    this.channel = channel;
    this.view = new SegmentView(channel, end == 0);
  }

  /// Makes a new file at `path`.
  static SegmentFile create(int number, Path path) throws IOException {
    return open(number, path, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  /// Opens a file of an earlier run, or a spare file that is reused.
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

  int number() {
    return number;
  }

  /// One past the last byte that may be read.
  long end() {
    return end;
  }

  void end(long newEnd) {
    end = newEnd;
  }

  boolean isDeleted() {
    return deleted;
  }

  /// The file lost its name: its bytes need not be forced any more.
  void abandon() {
    abandoned = true;
  }

  boolean isAbandoned() {
    return abandoned;
  }

  /// Whether it is deleted and has no reader.
  boolean isGone() {
    return deleted && holds.isZero();
  }

  /// Adds a hold unless the bytes are gone.
  boolean retain() {
    return holds.retain();
  }

  void release() {
    if (holds.release()) {
      drop();
    }
  }

  /// Ends appending.
  void grown() {
    view.grown();
  }

  /// Takes the bytes from `from` to `to` out of the page cache, if they are on the medium. The calling thread holds the
  /// segment.
  void letGo(long from, long to) throws IOException {
    view.letGo(path, from, to);
  }

  /// Gives the file to `pool` when it is deleted.
  void spareTo(SpareSegments pool) {
    spares = pool;
  }

  /// The bytes before this are on the medium; kept for [CachedFiles].
  long forcedTo() {
    return forcedTo;
  }

  void forcedTo(long end) {
    forcedTo = end;
  }

  Path path() {
    return path;
  }

  /// Whether the file lost its name, and [#delete] is not the reason. Its bytes are gone after a restart.
  boolean isLost() throws IOException {
    try {
      return !Objects.equals(key, key(path)) && !deleting;
    } catch (NoSuchFileException e) {
      return !deleting;
    }
  }

  private static @Nullable Object key(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  /// Gives the space behind `newEnd` back.
  void cut(long newEnd) throws IOException {
    channel.truncate(newEnd);
    end(Math.min(end(), newEnd));
  }

  FileChannel channel() {
    return channel;
  }

  /// Fills `parts` in turn with the bytes from `offset` on, all before [#end].
  void read(long offset, MemorySegment[] parts) throws IOException {
    if (!view.read(offset, parts) && (parts.length == 1 || !readAtOnce(offset, parts))) {
      FileBytes.readFromBehind(channel, offset, parts);
    }
  }

  /// Reads head and payload in one call, so that the caller waits for the medium once.
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

  /// Reads; bytes that were not in memory do not stay there.
  void readOnce(long offset, MemorySegment[] parts) throws IOException {
    long to = offset + RecordParts.bytes(parts);
    if (view.read(offset, parts)) {
      return;
    }
    boolean wasAway = view.covers(to); // else unknown
    if (!wasAway || !NativePages.readWithoutReadahead(path, offset, parts)) {
      FileBytes.readFromBehind(channel, offset, parts);
    }
    if (wasAway) {
      letGo(offset, to);
    }
  }

  /// Forces all appended bytes.
  void force() throws IOException {
    channel.force(false);
  }

  /// Deletes the name; the bytes go with the last hold.
  void delete() throws IOException {
    deleting = true; // first: a sync that is under way misses the name at once
    try {
      deleteName();
    } catch (IOException e) {
      deleting = false;
      throw e;
    }
    deleted = true;
    release();
  }

  private void deleteName() throws IOException {
    SpareSegments pool = spares;
    if (pool == null) {
      Files.deleteIfExists(path);
    } else {
      spare = pool.keep(path);
    }
  }

  private void drop() {
    view.close();
    closeDescriptor();
    try {
      channel.close();
    } catch (IOException e) {
      // the last reader cannot do anything about it
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
