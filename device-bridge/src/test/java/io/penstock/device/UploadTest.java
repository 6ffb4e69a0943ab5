package io.penstock.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.device.DeviceFailure.DeviceClosedException;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.stage.Batch;
import io.penstock.stage.Stage;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

final class UploadTest extends StageContract<Block, DeviceBlock> {
  private static final int SLOTS = 16;

  private final Device device = SimulatedDevice.open(SimulatedDeviceOptions.defaults(1 << 20));
  private final DeviceBridge bridge = open(new Batch.Options(3, 1 << 20, Duration.ofHours(1)));

  private DeviceBridge open(Batch.Options batch) {
    return requireNonNull(
        DeviceBridge.open(device, StageFixtures.SPACE.layout(), new DeviceBridgeOptions(SLOTS, batch, 4), timer)
            .block(LIMIT));
  }

  @BeforeEach
  void watchDevice() {
    leaks.watch("slots of the bridge", bridge::claimedSlots);
  }

  @AfterEach
  void closeDevice() {
    bridge.close().block(LIMIT);
    device.close().block(LIMIT);
  }

  @Override
  protected Stage<Block, DeviceBlock> stage(BlockScope scope) {
    return bridge.upload(scope);
  }

  @Override
  protected Flux<Block> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope);
  }

  @Override
  protected long outputs(int inputs) {
    return inputs;
  }

  @Override
  protected long pulled(long demand) {
    return demand == 0 ? 0 : 3 * (Math.ceilDiv(demand, 3L) + 1);
  }

  @Override
  protected void assertFreed() {
    leaks.awaitEmpty(LIMIT);
  }

  @Test
  void upload_thenDownload_bringsBackTheSameBytes() {
    StepVerifier
        .create(scoped(scope -> inputs(8, scope).transform(bridge.upload(scope).then(bridge.download(arena, scope)))
            .doOnNext(Blocks::assertBytes).map(block -> {
              block.close();
              return block.key();
            })))
        .expectNextSequence(StageFixtures.keys(8)).expectComplete().verify(LIMIT);
  }

  @Test
  void upload_block_isThereWithItsKeyAndChecksums() {
    List<Block> sources = new ArrayList<>();
    StepVerifier
        .create(scoped(scope -> inputs(2, scope).doOnNext(sources::add).transform(stage(scope)).doOnNext(there -> {
          Block source = sources.stream().filter(block -> block.key().equals(there.key())).findFirst().orElseThrow();
          assertThat(there.layout()).isEqualTo(source.layout());
          assertThat(there.checksum(3)).isEqualTo(source.checksum(3));
          assertThat(there.address() >>> 48).isEqualTo(0x4000);
        }))).expectNextCount(2).expectComplete().verify(LIMIT);
    assertThat(sources).allMatch(Block::isClosed);
  }

  @Test
  void upload_corruptBlock_isNamedAndNothingOfItsBatchComes() {
    StepVerifier.create(scoped(scope -> inputs(6, scope).doOnNext(block -> {
      if (block.key().equals(StageFixtures.key(4))) {
        Blocks.corrupt(block, 200);
      }
    }).transform(stage(scope))))
        .expectNextCount(3)
        .expectErrorSatisfies(error -> {
          assertThat(error).isInstanceOf(BlockCorruptException.class).hasMessageContaining("at device sim0");
          assertThat(((BlockCorruptException) error).key()).isEqualTo(StageFixtures.key(4));
        }).verify(LIMIT);
    leaks.awaitEmpty(LIMIT);
  }

  @Test
  void upload_moreThanThereAreSlots_waitsForThoseThatClose() {
    List<DeviceBlock> kept = new ArrayList<>();
    StepVerifier
        .create(
            scoped(scope -> StageFixtures.blocks(SLOTS + 3, arena, scope).transform(stage(scope)).doOnNext(kept::add)))
        .expectNextCount(15).expectNoEvent(Duration.ofMillis(50))
        .then(() -> List.copyOf(kept).forEach(DeviceBlock::close)).expectNextCount(4).expectComplete().verify(LIMIT);
  }

  @Test
  void upload_bridgeClosedWhileItWaits_fails() {
    BlockScope owner = leaks.watch(new BlockScope());
    List<DeviceBlock> kept = new ArrayList<>();
    StepVerifier.create(StageFixtures.blocks(SLOTS + 3, arena, owner).transform(stage(owner)).doOnNext(kept::add))
        .expectNextCount(15).then(() -> bridge.close().subscribe())
        .expectError(DeviceClosedException.class).verify(LIMIT);
    owner.close();
    assertThat(kept).allMatch(DeviceBlock::isClosed);
    StepVerifier.create(scoped(scope -> inputs(1, scope).transform(stage(scope))))
        .expectError(DeviceClosedException.class).verify(LIMIT);
  }

  @Test
  void upload_cancelledBeforeItsConsumerTookThem_givesTheSlotsBackAtOnce() {
    BlockScope lasting = leaks.watch(new BlockScope());
    StepVerifier.create(inputs(6, lasting).transform(stage(lasting)), 0).thenRequest(1).assertNext(DeviceBlock::close)
        .thenCancel().verify(LIMIT);
    awaitNoSlots(); // while the scope is open
    lasting.close();
  }

  private void awaitNoSlots() {
    try (LeakLedger slots = new LeakLedger()) {
      slots.watch("slots", bridge::claimedSlots);
      slots.awaitEmpty(LIMIT);
    }
  }

  @Test
  void upload_otherLayout_isRefused() {
    SlabArena other = leaks.watch(new SlabArena("other", BlockLayout.attention(1, 4, 2, 4, ElementType.BF16), 1, 1));
    StepVerifier
        .create(
            scoped(scope -> Flux.just(scope.adopt(Blocks.block(other, StageFixtures.key(0)))).transform(stage(scope))))
        .expectErrorMatches(error -> error.getMessage().startsWith("layout must be that of the bridge")).verify(LIMIT);
    assertThatThrownBy(() -> bridge.download(other, new BlockScope()))
        .hasMessageStartingWith("layout of the arena must be");
  }

  @Test
  void share_keepsTheSlotUntilBothClosed() {
    DeviceBlock[] shares = new DeviceBlock[1];
    StepVerifier
        .create(scoped(scope -> inputs(1, scope).transform(stage(scope)).doOnNext(block -> shares[0] = block.share())))
        .expectNextCount(1).expectComplete().verify(LIMIT);
    assertThat(bridge.claimedSlots()).isOne();
    shares[0].close();
    awaitNoSlots(); // the scope's handle may close on another thread, after the completion was heard
    assertThatThrownBy(() -> shares[0].share()).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void options_outOfRange_nameRuleAndValue() {
    Batch.Options batch = Batch.Options.defaults();
    assertThatThrownBy(() -> new DeviceBridgeOptions(0, batch, 1)).hasMessage("slots must be > 0 (was 0)");
    assertThatThrownBy(() -> new DeviceBridgeOptions(63, batch, 1))
        .hasMessage(
            "batch.maxCount must be <= 63, the smaller of slots and what a device takes (was 64 with slots 63)");
    assertThatThrownBy(() -> DeviceBridgeOptions.defaults(10_000).withBatch(batch.withMaxCount(4097)))
        .hasMessageContaining("(was 4097");
    assertThat(DeviceBridgeOptions.defaults(100_000).batch().maxCount()).isEqualTo(4096);
    assertThat(DeviceBridgeOptions.defaults(1).batch().maxCount()).isOne();
  }
}
