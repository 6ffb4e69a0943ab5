package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.storage.ReclaimOptions;
import io.penstock.storage.engine.DiskSpace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/// Room that a disk has for the disk level of a node.
///
/// @param disk space of the whole disk
/// @param heldBytes bytes of the files that the folder of the node has already
public record DiskRoom(DiskSpace disk, long heldBytes) {
  /// Bytes of files for each byte of the blocks in them, at most: compaction begins above.
  public static final double SPREAD = ReclaimOptions.defaults().mostSpread();

  public DiskRoom {
    requireNonNull(disk, "disk");
  }

  /// Room of the disk of `folder`. Empty for a disk that does not answer in time, or not at all: the opening reports
  /// its failure.
  public static Optional<DiskRoom> within(Duration patience, Path folder) {
    return DiskAnswer.within(patience, "the room on the disk of " + folder, () -> of(folder));
  }

  /// Room of the disk of `folder`, which may not exist yet.
  ///
  /// @throws IOException if the disk does not tell it
  public static DiskRoom of(Path folder) throws IOException {
    Path there = folder.toAbsolutePath();
    while (!Files.exists(there) && there.getParent() != null) {
      there = there.getParent();
    }
    FileStore store = Files.getFileStore(there);
    return new DiskRoom(new DiskSpace(store.getTotalSpace(), store.getUsableSpace()), held(folder));
  }

  private static long held(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return 0;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /// Bytes that the node may have on the disk, with those that it has already.
  ///
  /// @param highPercent of the disk in use, by any program
  /// @param keepFree bytes that stay free
  public long bytes(long highPercent, long keepFree) {
    long belowHigh = (long) (disk.totalBytes() * (highPercent / 100.0)) - (disk.totalBytes() - disk.usableBytes());
    return heldBytes + Math.max(0, Math.min(disk.usableBytes() - keepFree, belowHigh));
  }

  /// Bytes that the node could have on the disk if nothing else were on it.
  ///
  /// @param highPercent of the disk in use, by any program
  /// @param keepFree bytes that stay free
  public long mostBytes(long highPercent, long keepFree) {
    return Math.min(disk.totalBytes() - keepFree, (long) (disk.totalBytes() * (highPercent / 100.0)));
  }
}
