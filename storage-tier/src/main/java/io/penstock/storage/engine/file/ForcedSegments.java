package io.penstock.storage.engine.file;

import static java.util.Objects.requireNonNull;

import io.penstock.storage.engine.DurableFiles;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Brings appended bytes to the medium, and names of files, which change only when a segment is begun or deleted.
final class ForcedSegments {
  private final Path directory;
  private final SegmentTable table;
  private final CachedFiles cached;
  /// Folders of deleted segments that must be forced.
  private final Set<Path> thinned = ConcurrentHashMap.newKeySet();
  /// The names of all segments up to this one are on the medium.
  private volatile int namesForced;

  ForcedSegments(Path directory, SegmentTable table, CachedFiles cached) {
    this.directory = directory;
    this.table = table;
    this.cached = cached;
  }

  /// A segment that is held, and the end of its bytes at that time.
  record Written(SegmentFile file, long end) {}

  /// Holds the segments that have unforced bytes, for [#force]. No thread appends during the call.
  List<Written> unforced() {
    return table.holdUnforced().stream().map(segment -> new Written(segment, segment.end())).toList();
  }

  void deleted(SegmentFile segment) {
    thinned.add(folder(segment));
  }

  /// Forces and releases `held`; appending continues.
  void force(List<Written> held) throws IOException {
    Set<Path> names = Set.copyOf(thinned);
    thinned.removeAll(names);
    List<SegmentFile> files = held.stream().map(Written::file).toList();
    try {
      for (SegmentFile file : files) {
        requireNotLost(file);
        file.force();
      }
      forceNames(files, names);
      table.forced(files);
      held.forEach(each -> cached.forced(each.file(), each.end()));
    } catch (IOException e) {
      thinned.addAll(names);
      throw e;
    } finally {
      files.forEach(SegmentFile::release);
    }
  }

  private static void requireNotLost(SegmentFile file) throws IOException {
    if (file.isLost()) {
      file.abandon();
      throw new IOException("segment " + file.path() + " must be in its folder (was deleted, or is another file)");
    }
  }

  private void forceNames(List<SegmentFile> files, Set<Path> deleted) throws IOException {
    boolean isNew = !files.isEmpty() && files.getLast().number() > namesForced;
    Set<Path> folders = new LinkedHashSet<>(deleted);
    if (isNew || !deleted.isEmpty()) {
      folders.add(directory);
    }
    if (isNew) {
      files.forEach(file -> folders.add(folder(file)));
    }
    for (Path folder : folders) {
      try {
        DurableFiles.force(folder);
      } catch (NoSuchFileException gone) {
        // the folder of a run goes with its last segment: the folder above is forced
      }
    }
    namesForced = isNew ? files.getLast().number() : namesForced;
  }

  private static Path folder(SegmentFile segment) {
    return requireNonNull(segment.path().getParent(), "folder of a segment");
  }
}
