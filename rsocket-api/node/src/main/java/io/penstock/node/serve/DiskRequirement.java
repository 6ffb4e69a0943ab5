package io.penstock.node.serve;

import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.setting.Capacity;
import io.penstock.node.text.Sizes;
import io.penstock.node.tiers.DiskRoom;
import io.penstock.node.tiers.DiskShare;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/// What the disk level of a node requires of its disk.
final class DiskRequirement {
  private static final Logger LOG = LoggerFactory.getLogger(DiskRequirement.class);

  private DiskRequirement() {}

  /// @return cold; signals [ConfigException] where the disk has less room than `ssd` states, and logs a warning where
  ///     the files of its blocks may need more, or where a folder is stated without a disk. Asks no longer than
  ///     `ssd.stall.after`: the node starts without a disk that does not answer, and opens it later
  static Mono<Void> require(NodeConfig config) {
    return Mono.fromRunnable(() -> {
      if (!config.get(NodeSettings.SSD).isOff()) {
        config.get(NodeSettings.SSD_DIR)
            .flatMap(folder -> DiskRoom.within(config.get(NodeSettings.SSD_STALL_AFTER), folder))
            .ifPresent(room -> {
              require(room, config);
              doubt(room, config).ifPresent(words -> LOG.warn("room of the disk: {}", words));
            });
      } else if (config.spaces().isEmpty()) {
        config.get(NodeSettings.SSD_DIR)
            .ifPresent(folder -> LOG.warn("ssd is off: nothing is kept in ssd.dir, {}", folder));
      }
    });
  }

  /// @throws ConfigException if `ssd` states more than there is room for
  static void require(DiskRoom on, NodeConfig config) {
    long stated = bytes(config);
    long high = config.get(NodeSettings.SSD_DISK_HIGH);
    long keepFree = config.get(NodeSettings.SSD_KEEP_FREE);
    long room = on.bytes(high, keepFree);
    // A level that holds blocks already starts on a disk that others have filled since: it costs the node that level at
    // most. What can never fit is refused all the same.
    if (stated <= room || (on.heldBytes() > 0 && stated <= on.mostBytes(high, keepFree))) {
      return;
    }
    Effective said = config.effective(NodeSettings.SSD);
    throw new ConfigException(List.of(
        ("ssd must be <= %s, the room for it on its disk: %s of %s are free, of which ssd.keep.free %s and"
            + " ssd.disk.high %d %% leave %s, and the folder holds %s (was %s, from %s). Files take up to %s times what"
            + " their blocks do, so %s fit at any time")
            .formatted(Sizes.human(room), Sizes.human(on.disk().usableBytes()), Sizes.human(on.disk().totalBytes()),
                Sizes.human(keepFree), high, Sizes.human(room - on.heldBytes()), Sizes.human(on.heldBytes()),
                said.text(), said.origin(), DiskRoom.SPREAD, Sizes.human(room / DiskRoom.SPREAD))));
  }

  /// A warning, if the blocks fit and their files may not: then the level keeps fewer blocks than stated.
  static Optional<String> doubt(DiskRoom on, NodeConfig config) {
    long stated = bytes(config);
    long room = on.bytes(config.get(NodeSettings.SSD_DISK_HIGH), config.get(NodeSettings.SSD_KEEP_FREE));
    long capacity = config.get(NodeSettings.SSD_CAPACITY);
    double files = capacity == DiskShare.AUTO ? DiskRoom.SPREAD * stated : capacity;
    return files <= room
        ? Optional.empty()
        : Optional
            .of(("level ssd may keep fewer blocks than stated (%s): its files take up to %s, and its disk has room"
                + " for %s. Up to ssd = %s fits at any time").formatted(config.effective(NodeSettings.SSD).text(),
                    Sizes.human(files), Sizes.human(room), Sizes.human(room / DiskRoom.SPREAD)));
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
}
