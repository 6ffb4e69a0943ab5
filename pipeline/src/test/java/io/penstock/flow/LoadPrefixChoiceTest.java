package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.LoadPrefix.Choice;
import io.penstock.flow.LoadPrefix.Plan;
import io.penstock.flow.LoadPrefix.Reason;
import io.penstock.meter.PenstockMeters;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.spi.ForwardingLease;
import io.penstock.tier.spi.ForwardingTier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/// A tier says that it has blocks 0 to 3 in memory and 4 to 15 on a disk, and a clock goes on with each slice of it.
/// The engine computes a block of 4 tokens in 4 ms.
final class LoadPrefixChoiceTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final List<BlockKey> KEYS = StageFixtures.keys(20);
  private static final Choice.Options OPTIONS = Choice.Options.of(1000);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("device", StageFixtures.SPACE.layout(), 16, 4));
  private final List<Plan> plans = new ArrayList<>();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Consumer<LoadPrefix.Plan> meters = PenstockMeters.in(registry).fetches("dram");
  private HostTier memory;
  private TwoLevels tier;
  private long now;
  private long diskNanosPerByte = 1;

  @BeforeEach
  void open() {
    memory = FilledTier.of(leaks, arena, IntStream.range(0, 16).boxed().toList());
    tier = new TwoLevels(memory);
  }

  @AfterEach
  void closeTier() {
    tier.close().block(LIMIT);
  }

  private final class TwoLevels extends ForwardingTier {
    TwoLevels(HostTier tier) {
      super(tier);
    }

    @Override
    public Mono<List<Run>> locate(List<BlockKey> keys) {
      return match(keys).map(found -> found <= 4
          ? super.locate(keys).block(LIMIT)
          : List.of(new Run(0, "dram", 4), new Run(1, "ssd", found - 4)));
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
      return super.lease(keys, onMiss, scope).map(lease -> new ForwardingLease(lease) {
        @Override
        public Flux<LayerSlice> slices(SliceShape shape, BlockScope owner) {
          return super.slices(shape, owner)
              .doOnNext(slice -> now += slice.position(0) < 4 ? 1 : slice.bytes() * diskNanosPerByte);
        }
      });
    }
  }

  private Choice choice(Choice.Options options) {
    return new Choice(options, () -> now, plan -> {
      plans.add(plan);
      meters.accept(plan);
    });
  }

  /// Loads a request, checks the bytes, and answers how many blocks came.
  private int load(Choice choice, int keys) {
    List<BlockKey> loaded = new ArrayList<>();
    StepVerifier.create(Flux.using(BlockScope::new,
        scope -> LoadPrefix.layers(tier, KEYS.subList(0, keys), FilledTier.SHAPE, choice, scope)
            .doOnNext(slice -> slice.spans().forEach(span -> {
              Blocks.assertBytes(span);
              loaded.add(span.key());
            })).doOnNext(LayerSlice::close).limitRate(1),
        BlockScope::close)).thenConsumeWhile(slice -> true).expectComplete().verify(LIMIT);
    List<BlockKey> blocks = loaded.stream().distinct().toList();
    assertThat(blocks).containsExactlyInAnyOrderElementsOf(KEYS.subList(0, blocks.size()));
    return blocks.size();
  }

  private Reason lastReason() {
    return plans.getLast().reason();
  }

  @Test
  void firstRequest_isFetchedToLearn_andThenAFastDiskIsUsed() {
    Choice choice = choice(OPTIONS);
    assertThat(load(choice, 20)).isEqualTo(16);
    assertThat(lastReason()).isEqualTo(Reason.UNKNOWN);
    assertThat(load(choice, 20)).isEqualTo(16);
    assertThat(lastReason()).isEqualTo(Reason.FETCH);
    assertThat(plans.getLast().parts().getLast().rate().bytesPerSecond()).isEqualTo(1e9);
    assertThat(plans.getLast().parts().getLast().rate().queuedBytes()).isZero();
    assertThat(plans.getLast().computeNanos()).isEqualTo(64_000_000);
  }

  /// 256 bytes of a block in 25.6 ms, but 4 ms to compute it.
  @Test
  void slowDisk_isNotRead_itsBlocksAreComputed_untilItIsTriedAgain() {
    diskNanosPerByte = 100_000;
    Choice choice = choice(OPTIONS);
    assertThat(load(choice, 20)).as("to learn").isEqualTo(16);
    assertThat(load(choice, 20)).as("the part in memory").isEqualTo(4);
    assertThat(lastReason()).isEqualTo(Reason.PART);
    diskNanosPerByte = 1;
    now += OPTIONS.fresh().toNanos();
    assertThat(load(choice, 20)).as("the estimate is old").isEqualTo(16);
    assertThat(lastReason()).isEqualTo(Reason.UNKNOWN);
    assertThat(load(choice, 20)).as("what was learnt replaces the wrong estimate").isEqualTo(16);
    assertThat(lastReason()).isEqualTo(Reason.FETCH);
  }

  @Test
  void choiceThatIsTurnedOff_fetchesAll_andSaysSo() {
    diskNanosPerByte = 100_000;
    Choice choice = choice(OPTIONS.withEnabled(false));
    assertThat(load(choice, 20)).isEqualTo(16);
    assertThat(load(choice, 20)).isEqualTo(16);
    assertThat(lastReason()).isEqualTo(Reason.OFF);
  }

  @Test
  void decisions_areCountedByReason() {
    diskNanosPerByte = 100_000;
    Choice choice = choice(OPTIONS);
    load(choice, 20);
    load(choice, 20);
    load(choice, 20);
    assertThat(decisions("unknown")).isEqualTo(1);
    assertThat(decisions("part")).isEqualTo(2);
    assertThat(blocks("fetched")).isEqualTo(16 + 4 + 4);
    assertThat(blocks("computed")).isEqualTo(24);
  }

  private double decisions(String reason) {
    return registry.get("penstock.fetch.decisions").tag("tier", "dram").tag("reason", reason).counter().count();
  }

  private double blocks(String result) {
    return registry.get("penstock.fetch.blocks").tag("result", result).counter().count();
  }

  @Test
  void requestOfWhichNothingIsFound_isAMiss() {
    memory.remove(KEYS.subList(0, 1)).block(LIMIT);
    assertThat(load(choice(OPTIONS), 20)).isZero();
    assertThat(lastReason()).isEqualTo(Reason.MISS);
  }

  @Test
  void cancel_endsTheTransfer_andFrees() {
    Choice choice = choice(OPTIONS);
    load(choice, 20);
    StepVerifier.create(Flux.using(BlockScope::new,
        scope -> LoadPrefix.layers(tier, KEYS, FilledTier.SHAPE, choice, scope), BlockScope::close), 3)
        .expectNextCount(3).thenCancel().verify(LIMIT);
    leaks.awaitEmpty(LIMIT);
    load(choice, 20);
    assertThat(plans.getLast().parts()).allSatisfy(part -> assertThat(part.rate().queuedBytes()).isZero());
  }
}
