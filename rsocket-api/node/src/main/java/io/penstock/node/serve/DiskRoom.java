package io.penstock.node.serve;

import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.setting.Capacity;
import io.penstock.node.text.Sizes;
import io.penstock.storage.engine.DiskSpace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/// Room that a disk has for the disk level of a node.
///
/// @param disk space of the whole disk
/// @param heldBytes bytes of the files that the folder of the node has already
record DiskRoom(DiskSpace disk, long heldBytes) {
  /// @return cold; signals [ConfigException] where the disk has less room than `ssd` states. Asks no longer than
  ///     `ssd.stall.after`: the node starts without a disk that does not answer, and opens it later
  static Mono<Void> require(NodeConfig config) {
    return Mono.fromRunnable(() -> {
      if (!config.get(NodeSettings.SSD).isOff()) {
        config.get(NodeSettings.SSD_DIR)
            .flatMap(folder -> within(config.get(NodeSettings.SSD_STALL_AFTER), folder))
            .ifPresent(room -> room.requireFor(config));
      }
    });
  }

  /// Empty for a disk that does not answer in time, or not at all: the opening reports its failure.
  private static Optional<DiskRoom> within(Duration patience, Path folder) {
    FutureTask<DiskRoom> answer = new FutureTask<>(() -> of(folder));
    Thread.ofPlatform().daemon().name("penstock-disk-room").start(answer);
    try {
      return Optional.of(answer.get(patience.toMillis(), TimeUnit.MILLISECONDS));
    } catch (ExecutionException | TimeoutException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  static DiskRoom of(Path folder) throws IOException {
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

  /// @throws ConfigException if `ssd` states more than there is room for
  void requireFor(NodeConfig config) {
    Capacity ssd = config.get(NodeSettings.SSD);
    int blockBytes = config.layout().blockBytes();
    long blocks = ssd.inBlocks(blockBytes);
    long high = config.get(NodeSettings.SSD_DISK_HIGH);
    long keepFree = config.get(NodeSettings.SSD_KEEP_FREE);
    long room = bytes(high, keepFree);
    if (blocks == Long.MAX_VALUE || blocks <= room / blockBytes) {
      return;
    }
    Effective said = config.effective(NodeSettings.SSD);
    throw new ConfigException(List.of(
        ("ssd must be <= %s, the room for it on its disk: %s of %s are free, of which ssd.keep.free %s and"
            + " ssd.disk.high %d %% leave %s, and the folder holds %s (was %s, from %s)").formatted(Sizes.human(room),
                Sizes.human(disk.usableBytes()), Sizes.human(disk.totalBytes()),
                Sizes.human(keepFree), high, Sizes.human(room - heldBytes), Sizes.human(heldBytes), said.text(),
                said.origin())));
  }

  /// Bytes that the node may have on the disk, with those that it has already.
  private long bytes(long highPercent, long keepFree) {
    long belowHigh = (long) (disk.totalBytes() * (highPercent / 100.0)) - (disk.totalBytes() - disk.usableBytes());
    return heldBytes + Math.max(0, Math.min(disk.usableBytes() - keepFree, belowHigh));
  }
}
