package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;

final class TierPutTest {
  private final SlabArena arena = new SlabArena("source", StageFixtures.SPACE.layout(), 8, 8);
  private final HostTier memory = new HostTier(StageFixtures.SPACE, 8, TierListener.noop());
  private final List<Throwable> dropped = new ArrayList<>();

  @BeforeEach
  void listen() {
    Hooks.onErrorDropped(dropped::add);
  }

  @AfterEach
  void close() {
    Hooks.resetOnErrorDropped();
    memory.close().block();
    arena.close();
  }

  private final BaseSubscriber<Receipt> reader = new BaseSubscriber<>() {};

  /// The cancel closes the drafts just before the commit seals them, so the commit fails and its subscriber has left.
  @Test
  void put_cancelledAsItCommits_dropsNoErrorAndKeepsNoBlock() {
    BlockTier overtaken = new ForwardingTier(memory) {
      @Override
      public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
        return super.reserve(keys, scope).map(room -> scope.adopt(new Overtaken(room, reader::cancel)));
      }
    };
    put(overtaken, source -> source);
  }

  /// The cancel closes the drafts just before a slice lands.
  @Test
  void put_cancelledAsASliceLands_dropsNoErrorAndKeepsNoBlock() {
    put(new ForwardingTier(memory) {},
        source -> window -> source.window(window).doOnNext(slice -> reader.cancel()));
  }

  private void put(BlockTier tier, UnaryOperator<PutSource> source) {
    try (BlockScope scope = new BlockScope()) {
      List<Block> blocks = StageFixtures.blocks(2, arena, scope).collectList().block();

      tier.put(StageFixtures.keys(2), SliceShape.defaults(),
          source.apply(PutSource.of(blocks, SliceShape.Order.LAYER_FIRST))).subscribe(reader);

      assertThat(reader.isDisposed()).isTrue();
      assertThat(dropped).isEmpty();
      assertThat(memory.contains(StageFixtures.keys(2)).block().count()).isZero();
      assertThat(memory.arena().claimedSlots()).isZero();
    }
  }

  /// A reservation whose commit runs just after a cancel.
  private static final class Overtaken extends Reservation {
    private final Reservation room;
    private final Runnable cancel;

    Overtaken(Reservation room, Runnable cancel) {
      this.room = room;
      this.cancel = cancel;
    }

    @Override
    public List<BlockDraft> drafts() {
      return room.drafts();
    }

    @Override
    public Presence skipped() {
      return room.skipped();
    }

    @Override
    public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
      return Mono.defer(() -> {
        cancel.run();
        return room.commit(complete);
      });
    }

    @Override
    protected void free() {
      room.close();
    }
  }
}
