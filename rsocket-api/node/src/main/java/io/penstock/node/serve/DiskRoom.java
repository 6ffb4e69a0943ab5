package io.penstock.node.serve;

import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.SpaceSettings;
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
    long stated = bytes(config);
    long high = config.get(NodeSettings.SSD_DISK_HIGH);
    long keepFree = config.get(NodeSettings.SSD_KEEP_FREE);
    long room = bytes(high, keepFree);
    // A level that holds blocks already starts on a disk that others have filled since: it costs the node that level at
    // most. What can never fit is refused all the same.
    if (stated <= room || (heldBytes > 0 && stated <= mostBytes(high, keepFree))) {
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

  /// Bytes that `ssd` states, over all spaces; 0 for a level without a bound.
  private static long bytes(NodeConfig config) {
    Capacity ssd = config.get(NodeSettings.SSD);
    if (ssd.equals(Capacity.UNBOUNDED)) {
      return 0;
    } else if (ssd instanceof Capacity.Bytes size) {
      return size.bytes();
    }
    List<SpaceSettings> spaces = config.spaces();
    double weights = spaces.stream().mapToDouble(SpaceSettings::weight).sum();
    return spaces.isEmpty()
        ? (long) ((double) ssd.inBlocks(1) * config.layout().blockBytes())
        : (long) spaces.stream().mapToDouble(space -> bytes(space, ssd, space.weight() / weights)).sum();
  }

  private static double bytes(SpaceSettings space, Capacity ssd, double part) {
    int blockBytes = space.space().layout().blockBytes();
    return Math.min((double) ssd.inBlocks(blockBytes) * part * blockBytes,
        space.ssdQuotaBytes().orElse(Long.MAX_VALUE));
  }

  /// Bytes that the node could have on the disk if nothing else were on it.
  private long mostBytes(long highPercent, long keepFree) {
    return Math.min(disk.totalBytes() - keepFree, (long) (disk.totalBytes() * (highPercent / 100.0)));
  }

  /// Bytes that the node may have on the disk, with those that it has already.
  private long bytes(long highPercent, long keepFree) {
    long belowHigh = (long) (disk.totalBytes() * (highPercent / 100.0)) - (disk.totalBytes() - disk.usableBytes());
    return heldBytes + Math.max(0, Math.min(disk.usableBytes() - keepFree, belowHigh));
  }
}
