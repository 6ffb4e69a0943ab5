package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.device.ascend.AscendListener;
import io.penstock.node.setting.Capacity;
import io.penstock.storage.EngineKind;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The end of levels while hundreds of blocks wait for the disk.
@Timeout(60)
final class NodeTiersEndTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final int BLOCKS = 400;
  private static final int IN_MEMORY = 4;
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, BLOCKS);

  @TempDir
  private Path folder;

  @ParameterizedTest
  @EnumSource(names = {"PLAIN", "CHRONICLE"})
  void closeInOrder_bringsToTheDiskWhatWaitsForIt_andNoMore(EngineKind engine) {
    NodeTiers tiers = open(engine);
    put(tiers);
    tiers.closeWithin(LIMIT, VirtualTimeScheduler.create(), () -> 0).block(LIMIT); // time stands still
    assertThat(found(engine)).isEqualTo(KEYS.subList(0, BLOCKS - IN_MEMORY));
  }

  private List<BlockKey> found(EngineKind engine) {
    NodeTiers again = open(engine);
    Presence present = requireNonNull(again.contains(KEYS).block(LIMIT));
    again.close().block(LIMIT);
    return present.bits().stream().mapToObj(KEYS::get).toList();
  }

  private NodeTiers open(EngineKind engine) {
    TierPlan plan = TierPlan.dram(SPACE, Capacity.ofBlocks(IN_MEMORY)).withReserveBlocks(BLOCKS).withWindowBlocks(2)
        .withSsd(Capacity.ofBlocks(2 * BLOCKS),
            DiskPlan.in(folder.resolve("ssd")).withEngine(engine).withSegmentBytes(1 << 20));
    return requireNonNull(
        NodeTiers.open(plan, NodeMemory.of(plan), TierListener.noop(), AscendListener.noop()).block(LIMIT));
  }

  /// All at once: all but the newest are to be demoted.
  private static void put(NodeTiers tiers) {
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = requireNonNull(tiers.reserve(KEYS, scope).block(LIMIT));
      reservation.drafts().forEach(Blocks::produce);
      reservation.commit(reservation.drafts()).block(LIMIT);
    }
  }
}
