package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource.Ready;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.HostTier;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/// A device writes two layers of eight blocks, and says so; the tier has blocks 0 to 3 already.
final class OffloadPrefixNewLayersTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final List<BlockKey> KEYS = StageFixtures.keys(8);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("device", StageFixtures.SPACE.layout(), 8, 4));
  private final List<Sinks.Empty<Void>> written = List.of(Sinks.empty(), Sinks.empty());
  private final boolean[] isWritten = new boolean[2];
  private final AtomicInteger copies = new AtomicInteger();
  private HostTier tier;

  @BeforeEach
  void open() {
    tier = FilledTier.of(leaks, arena, List.of(0, 1, 2, 3));
  }

  @AfterEach
  void closeTier() {
    tier.close().block(LIMIT);
  }

  /// Copies what the device has at that moment: other bytes, as long as it writes.
  private PutSource device(Ready ready) {
    int planes = arena.layout().planes().size();
    return new ProducingSource(arena, SliceShape.Order.LAYER_FIRST, (key, range, memory) -> {
      copies.incrementAndGet();
      if (isWritten[range.first() / planes] && isWritten[(range.end() - 1) / planes]) {
        Blocks.fill(key, range.offset(arena.layout()), memory);
      } else {
        memory.fill((byte) 0xEE);
      }
    }, ready);
  }

  private Flux<BlockKey> save(Ready ready) {
    return Flux.just(KEYS).transform(OffloadPrefix.newLayers(tier, FilledTier.SHAPE, device(ready))).map(Receipt::key);
  }

  private void write(int layer) {
    isWritten[layer] = true;
    written.get(layer).emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
  }

  private Ready layers() {
    return (keys, layer) -> written.get(layer).asMono();
  }

  @Test
  void noByte_isCopiedBeforeItsLayerIsReady_andOnlyWhatIsNewIsPut() {
    StepVerifier.create(save(layers())).thenRequest(8)
        .then(() -> assertThat(copies).hasValue(0))
        .then(() -> write(1)).then(() -> assertThat(copies).as("layer 0 comes first").hasValue(0))
        .then(() -> write(0)).expectNextSequence(KEYS.subList(4, 8)).expectComplete().verify(LIMIT);
    assertThat(copies.get()).isPositive();
    StepVerifier.create(Flux.using(BlockScope::new, scope -> tier.get(KEYS, scope).doOnNext(Blocks::assertBytes),
        BlockScope::close)).expectNextCount(8).expectComplete().verify(LIMIT);
  }

  @Test
  void secondRun_putsNothing() {
    write(0);
    write(1);
    StepVerifier.create(save(layers())).expectNextCount(4).expectComplete().verify(LIMIT);
    int before = copies.get();
    StepVerifier.create(save(layers())).expectComplete().verify(LIMIT);
    assertThat(copies).hasValue(before);
  }

  @Test
  void oneSignal_mayStandForAllLayers() {
    StepVerifier.create(save(Ready.of(written.get(1).asMono()))).then(() -> isWritten[0] = true)
        .then(() -> assertThat(copies).hasValue(0)).then(() -> write(1)).expectNextCount(4).expectComplete()
        .verify(LIMIT);
  }

  @Test
  void cancel_whileALayerIsAwaited_frees() {
    StepVerifier.create(save(layers())).then(() -> write(0)).then(() -> assertThat(copies.get()).isPositive())
        .thenCancel().verify(LIMIT);
    leaks.awaitEmpty(LIMIT);
    assertThat(tier.match(KEYS).block(LIMIT)).isEqualTo(4);
  }

  @Test
  void layerThatFails_isTheErrorOfThePut() {
    IllegalStateException boom = new IllegalStateException("boom");
    StepVerifier.create(save(layers()))
        .then(() -> written.get(0).emitError(boom, Sinks.EmitFailureHandler.FAIL_FAST))
        .expectErrorSatisfies(error -> assertThat(error).isSameAs(boom)).verify(LIMIT);
    leaks.awaitEmpty(LIMIT);
  }
}
