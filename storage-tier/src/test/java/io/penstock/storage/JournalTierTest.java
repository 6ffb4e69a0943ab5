package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.file.Damage;
import io.penstock.testkit.BlockTierContract;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The contract of a tier, kept by journals on every engine.
final class JournalTierTest {
  /// From a key in a record's head to byte 70 of the payload of a small block.
  private static final int TO_PAYLOAD = 104 - 24 + 70;

  private static byte[] bytes(BlockKey key) {
    ByteBuffer bytes = ByteBuffer.allocate(BlockKey.BYTES);
    key.write(bytes);
    return bytes.array();
  }

  private abstract static class Contract extends BlockTierContract {
    StackOptions stack(int capacityBlocks) {
      return StackOptions.defaults("ssd").withIngressBlocks(capacityBlocks + RESERVE_BLOCKS).withTransferBlocks(16)
          .withPromotionBlocks(2)
          .withBounceBlocks(1).withBatchBlocks(3).withEventLogSize(EVENT_LOG_SIZE);
    }
  }

  @Nested
  final class InMemory extends Contract {
    private MemoryDisk disk = new MemoryDisk();

    @Override
    protected BlockTier openTier(int capacityBlocks) {
      disk = new MemoryDisk();
      MemoryEngine engine = MemoryEngine.open(disk, EngineOptions.defaults().withSegmentBytes(1 << 20));
      JournalStore store =
          JournalStore.open(space, JournalOptions.defaults(Path.of("unused")), engine,
              new SerialExecutor(), Runnable::run);
      return new JournalTier(store, capacityBlocks, stack(capacityBlocks), TierListener.noop());
    }

    @Override
    protected void corruptStored(BlockTier tier, BlockKey key) {
      Damage.inMemory(disk, bytes(key), TO_PAYLOAD);
    }
  }

  private abstract static class OnFiles extends Contract {
    @TempDir
    Path temporary;
    private int tiers;

    abstract EngineKind engine();

    private JournalOptions options() {
      return JournalOptions.defaults(temporary.resolve("journal-" + tiers)).withEngine(engine())
          .withSegmentBytes(1 << 20).withDurability(SyncRule.none());
    }

    @Override
    protected BlockTier openTier(int capacityBlocks) {
      tiers++;
      return new JournalTier(JournalStore.open(space, options()), capacityBlocks, stack(capacityBlocks),
          TierListener.noop());
    }

    @Override
    protected boolean answersAtOnce() {
      return false;
    }

    @Override
    protected int cancelledRuns() {
      return 300;
    }

    @Override
    protected int stressRounds() {
      return 100;
    }

    @Override
    protected void corruptStored(BlockTier tier, BlockKey key) {
      Damage.inFiles(options().directory(), bytes(key), TO_PAYLOAD);
    }

    @Test
    void reopened_hasWhatAReceiptPromised_andNotWhatWasRemoved() {
      BlockTier tier = openTier(8);
      List<BlockKey> keys = Blocks.keys(space, 0, 5);
      for (BlockKey key : keys) {
        Receipt receipt = put(tier, key);
        assertThat(receipt.durability()).isEqualTo(Durability.WRITTEN);
      }
      tier.remove(keys.subList(1, 2)).block();
      tier.close().block();
      JournalTier again = JournalTier.open(space, 8, options(), TierListener.noop());
      assertThat(again.info().medium()).isEqualTo(Medium.DISK);
      assertThat(again.recovery().blocks()).isEqualTo(4);
      try (BlockScope scope = new BlockScope()) {
        List<Block> found = Objects.requireNonNull(again.get(keys, scope).collectList().block());
        assertThat(found.stream().map(Block::key)).containsExactly(keys.get(0), keys.get(2), keys.get(3), keys.get(4));
        found.forEach(Blocks::assertBytes);
      }
      again.close().block();
    }

    private static Receipt put(BlockTier tier, BlockKey key) {
      try (BlockScope scope = new BlockScope()) {
        Reservation reservation = Objects.requireNonNull(tier.reserve(List.of(key), scope).block());
        reservation.drafts().forEach(Blocks::produce);
        return Objects.requireNonNull(reservation.commit(reservation.drafts()).block()).getFirst();
      }
    }
  }

  @Nested
  final class OnPlainFiles extends OnFiles {
    @Override
    EngineKind engine() {
      return EngineKind.PLAIN;
    }
  }

  @Nested
  final class OnChronicle extends OnFiles {
    @Override
    EngineKind engine() {
      return EngineKind.CHRONICLE;
    }
  }
}
