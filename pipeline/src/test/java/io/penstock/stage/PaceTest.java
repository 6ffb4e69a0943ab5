package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.operator.TokenBucket;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

final class PaceTest extends StageContract<Block, Block> {
  private static final long SEED = 7;

  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();

  /// Blocks of 256 bytes, some of which wait 25 µs on the timer. The weigher fails once the scope of a cancelled run
  /// closed its block.
  @Override
  protected Stage<Block, Block> stage(BlockScope scope) {
    return Pace.bytes(block -> block.read(MemorySegment::byteSize), new Pace.Options(10_000_000, 512), timer);
  }

  @Override
  protected Flux<Block> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope);
  }

  @Override
  protected long pulled(long demand) {
    return demand == 0 ? 0 : demand + 1;
  }

  @Test
  void pace_bytes_passAtTheRateAfterTheBurst() {
    StepVerifier
        .create(Flux.range(0, 5).map(i -> 100)
            .transform(Pace.<Integer>bytes(bytes -> bytes, new Pace.Options(1000, 200), clock)))
        .expectNext(100, 100).expectNoEvent(Duration.ZERO)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(99))).expectNoEvent(Duration.ZERO)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(1))).expectNext(100)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(200))).expectNext(100, 100)
        .expectComplete().verify(LIMIT);
  }

  @Test
  void pace_elementHeavierThanTheBurst_passesAndIsPaidForByTheNext() {
    StepVerifier
        .create(Flux.just(1000, 1).transform(Pace.<Integer>bytes(bytes -> bytes, new Pace.Options(1000, 10), clock)))
        .expectNext(1000).then(() -> clock.advanceTimeBy(Duration.ofMillis(990))).expectNoEvent(Duration.ZERO)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(1))).expectNext(1).expectComplete().verify(LIMIT);
  }

  @Test
  void pace_pause_savesUpNoMoreThanTheBurst() {
    StepVerifier.create(Flux.range(0, 10).transform(Pace.<Integer>items(new Pace.Options(10, 2), clock)), 1)
        .expectNext(0).then(() -> clock.advanceTimeBy(Duration.ofHours(1)))
        .thenRequest(100).expectNext(1, 2, 3).expectNoEvent(Duration.ZERO) // one was pulled before the pause
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(100))).expectNext(4)
        .thenCancel().verify(LIMIT);
  }

  /// Over any span of time no more than burst, rate and one element pass, and a busy stream uses at least the rate.
  @Test
  void pace_randomSizes_keepTheRate() {
    Random random = new Random(SEED);
    Pace.Options options = new Pace.Options(1_000_000, 5_000);
    List<long[]> passed = new ArrayList<>(); // nanos, bytes
    StepVerifier.create(Flux.range(0, 2_000).map(i -> 1 + random.nextInt(3_000))
        .transform(Pace.<Integer>bytes(bytes -> bytes, options, clock))
        .doOnNext(bytes -> passed.add(new long[] {clock.now(TimeUnit.NANOSECONDS), bytes})))
        .then(() -> clock.advanceTimeBy(Duration.ofSeconds(10)))
        .expectNextCount(2_000).expectComplete().verify(LIMIT);

    long total = passed.stream().mapToLong(each -> each[1]).sum();
    long nanos = passed.getLast()[0] - passed.getFirst()[0];
    assertThat(total / (nanos / 1e9)).as("seed %d", SEED).isBetween(990_000.0, 1_010_000.0);
    for (int from = 0; from < passed.size(); from += 37) {
      long bytes = 0;
      for (int to = from; to < Math.min(passed.size(), from + 200); to++) {
        bytes += passed.get(to)[1];
        double allowed = 5_000 + (passed.get(to)[0] - passed.get(from)[0]) / 1e9 * 1_000_000 + 3_000;
        assertThat((double) bytes).as("seed %d, %d to %d", SEED, from, to).isLessThanOrEqualTo(allowed);
      }
    }
  }

  /// What a subscriber that left closed under the weigher's hands is no failure.
  @Test
  void pace_weigherFailingAfterTheCancel_isNobodys() {
    List<Throwable> dropped = new ArrayList<>();
    Hooks.onErrorDropped(dropped::add);
    try {
      BaseSubscriber<Integer> subscriber = new BaseSubscriber<>() {};
      Flux.just(1, 2).transform(Pace.<Integer>bytes(bytes -> {
        subscriber.cancel();
        throw new IllegalStateException("late");
      }, new Pace.Options(1000, 10), clock)).subscribe(subscriber);
      assertThat(subscriber.isDisposed()).isTrue();
      assertThat(dropped).isEmpty();
    } finally {
      Hooks.resetOnErrorDropped();
    }
  }

  @Test
  void pace_manySmallElements_doNotPassForNothing() {
    TokenBucket bucket = new TokenBucket(3_000_000_000L, 1, 0);
    long wait = 0;
    for (int i = 0; i < 3_000_000; i++) {
      wait = bucket.take(1, 0);
    }
    assertThat(wait).isBetween(999_000L, 1_000_000L); // 3 million bytes at 3 GB/s take a millisecond
  }

  @Test
  void trace_elements_comeAtTheirOwnTimes() {
    Flux<Duration> times = Flux.just(5_000, 5_000, 7_000, 11_000).map(Duration::ofMillis);
    StepVerifier.create(times.transform(Pace.<Duration>trace(time -> time, 2, clock)).map(Duration::toMillis))
        .expectNext(5_000L, 5_000L).expectNoEvent(Duration.ZERO)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(999))).expectNoEvent(Duration.ZERO)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(1))).expectNext(7_000L)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(2_000))).expectNext(11_000L)
        .expectComplete().verify(LIMIT);
  }

  @Test
  void trace_lateElements_passAtOnceAndDoNotShiftTheRest() {
    Flux<Duration> times = Flux.just(0, 1_000, 2_000, 10_000).map(Duration::ofMillis);
    StepVerifier.create(times.transform(Pace.<Duration>trace(time -> time, 1, clock)).map(Duration::toMillis), 1)
        .expectNext(0L).then(() -> clock.advanceTimeBy(Duration.ofSeconds(9)))
        .thenRequest(10).expectNext(1_000L, 2_000L)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(999))).expectNoEvent(Duration.ZERO)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(1))).expectNext(10_000L)
        .expectComplete().verify(LIMIT);
  }

  @Test
  void trace_speedZero_waitsForNothing() {
    StepVerifier
        .create(Flux.just(0, 100_000).map(Duration::ofMillis).transform(Pace.<Duration>trace(time -> time, 0, clock)))
        .expectNextCount(2).expectComplete().verify(LIMIT);
  }

  @Test
  void options_outOfRange_nameRuleAndValue() {
    assertThatThrownBy(() -> Pace.Options.of(0)).hasMessage("unitsPerSecond must be > 0 (was 0)");
    assertThatThrownBy(() -> Pace.Options.of(1).withBurstUnits(0)).hasMessage("burstUnits must be > 0 (was 0)");
    assertThatThrownBy(() -> Pace.trace(time -> Duration.ZERO, -1, clock))
        .hasMessage("speed must be >= 0 and finite (was -1.0)");
    assertThat(Pace.Options.of(1_000_000).burstUnits()).isEqualTo(10_000);
  }
}
