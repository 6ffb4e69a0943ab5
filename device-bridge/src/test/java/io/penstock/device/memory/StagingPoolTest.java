package io.penstock.device.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockScope;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.Race;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

@Timeout(60)
final class StagingPoolTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int ROUNDS = 5000;

  private final MemoryFigures figures = new MemoryFigures();
  private final MappedMemory source = new MappedMemory(MappedOptions.defaults().withPages(MemoryPages.PLAIN), figures);
  private final BlockScope scope = new BlockScope();

  private StagingPool pool(String spec, int maxWaiters) {
    return requireNonNull(StagingPool.open("staging", StagingSpec.parse(spec), maxWaiters, source).block(LIMIT));
  }

  @AfterEach
  void allMemoryWentBack() {
    scope.close();
    assertThat(figures.bytes(PageKind.PLAIN)).isZero();
  }

  @ParameterizedTest
  @CsvSource({"4:8, 4, 8, 4:8", "'  1:1 ', 1, 1, 1:1", "65536:65536, 65536, 65536, 65536:65536", "0:0, 0, 0, 0:0",
    "00:0, 0, 0, 0:0"})
  void spec_isReadByValue(String text, int buffers, long mib, String printed) {
    StagingSpec spec = StagingSpec.parse(text);
    assertThat(spec).isEqualTo(new StagingSpec(buffers, mib << 20)).hasToString(printed);
    assertThat(spec.isOff()).isEqualTo(buffers == 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "4", "4:", ":8", "4:8:1", "-1:8", "4:-8", "4,8", "4: 8", "0:8", "4:0", "65537:1",
    "1:99999", "1:1k"})
  void specThatIsNone_isAnErrorWithTheRule(String text) {
    assertThatThrownBy(() -> StagingSpec.parse(text)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("staging buffers must be NUM:SIZE_MB").hasMessageContaining("0:0 for none (was ");
  }

  @Test
  void pool_thatIsOff_cannotBeOpened() {
    assertThatThrownBy(() -> StagingPool.open("staging", StagingSpec.OFF, 1, source))
        .hasMessage("staging: staging buffers must be on (was 0:0)");
  }

  @Test
  void buffers_areApart_andLentAsManyAsThereAre() {
    StagingPool pool = pool("2:1", 1);
    StagingBuffer first = requireNonNull(pool.acquire(scope).block(LIMIT));
    StagingBuffer second = scope.adopt(requireNonNull(pool.tryAcquire()));
    assertThat(pool.tryAcquire()).isNull();
    first.segment().fill((byte) 1);
    second.segment().fill((byte) 2);
    assertThat(first.segment().get(JAVA_BYTE, pool.bufferBytes() - 1)).isEqualTo((byte) 1);
    assertThat(first.segment().address() % 4096).isZero();
    List<StagingBuffer> later = new ArrayList<>();
    pool.acquire(scope).subscribe(later::add);
    assertThat(later).isEmpty();
    assertThatThrownBy(() -> pool.acquire(scope).block(LIMIT)).isInstanceOf(BudgetExhaustedException.class);
    second.close();
    second.close();
    assertThat(later).singleElement()
        .satisfies(buffer -> assertThat(buffer.segment().address()).isEqualTo(second.segment().address()));
    scope.close();
    pool.close().block(LIMIT);
  }

  @Test
  void waiters_areServedInOrder_andACancelLeavesTheQueue() {
    StagingPool pool = pool("1:1", 3);
    StagingBuffer only = requireNonNull(pool.acquire(scope).block(LIMIT));
    List<Integer> served = new ArrayList<>();
    List<Disposable> line = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int number = i;
      line.add(pool.acquire(scope).subscribe(buffer -> {
        served.add(number);
        buffer.close();
      }));
    }
    line.get(1).dispose();
    assertThat(pool.permits().waiting()).isEqualTo(2);
    only.close();
    assertThat(served).containsExactly(0, 2);
    pool.close().block(LIMIT);
  }

  @Test
  void close_failsWhoWaits_andEndsWithTheLastBuffer() {
    StagingPool pool = pool("1:1", 3);
    StagingBuffer only = requireNonNull(pool.acquire(scope).block(LIMIT));
    List<Throwable> failures = new ArrayList<>();
    pool.acquire(scope).subscribe(buffer -> {}, failures::add);
    AtomicInteger closed = new AtomicInteger();
    pool.close().subscribe(nothing -> {}, failures::add, closed::incrementAndGet);
    assertThat(failures).singleElement().isInstanceOf(StagingClosedException.class);
    assertThatThrownBy(() -> pool.acquire(scope).block(LIMIT)).isInstanceOf(StagingClosedException.class)
        .hasMessage("staging: staging pool must be open (was closed)");
    assertThat(closed).hasValue(0);
    only.segment().fill((byte) 3);
    only.close();
    assertThat(closed).hasValue(1);
    pool.close().block(LIMIT);
  }

  @Test
  void cancelledOpening_leavesNoMemory() {
    HostMemorySource slow = new HostMemorySource() {
      @Override
      public String name() {
        return "slow";
      }

      @Override
      public Mono<HostMemory> allocate(long bytes, BlockScope arriving) {
        // Comes after the last wait
        return Mono.create(sink -> sink.onCancel(() -> arriving.adopt(source.map(bytes))));
      }
    };
    StagingPool.open("staging", StagingSpec.parse("1:1"), 1, slow).subscribe().dispose();
    assertThat(figures.bytes(PageKind.PLAIN)).isZero();
  }

  /// One thread takes, waits, cancels and gives back in the order of a seed.
  @ParameterizedTest
  @ValueSource(longs = {1, 20_261_121, 977})
  void cancels_atAnyPoint_leakNoBuffer(long seed) {
    Random random = new Random(seed);
    StagingPool pool = pool("3:1", 8);
    List<StagingBuffer> lent = new ArrayList<>();
    List<Disposable> waiting = new ArrayList<>();
    for (int i = 0; i < ROUNDS; i++) {
      switch (random.nextInt(3)) {
        case 0 -> waiting.add(pool.acquire(scope).subscribe(lent::add,
            full -> assertThat(full).isInstanceOf(BudgetExhaustedException.class)));
        case 1 -> {
          if (!waiting.isEmpty()) {
            waiting.remove(random.nextInt(waiting.size())).dispose();
          }
        }
        default -> {
          if (!lent.isEmpty()) {
            lent.remove(random.nextInt(lent.size())).close();
          }
        }
      }
      assertThat(pool.permits().inUse()).as("seed %d, round %d", seed, i).isEqualTo(lent.size()).isLessThanOrEqualTo(3);
    }
    waiting.forEach(Disposable::dispose);
    scope.close();
    assertThat(pool.permits().inUse()).as("seed %d", seed).isZero();
    pool.close().block(LIMIT);
  }

  @Test
  void cancel_againstAReturn_leaksNoBuffer() {
    StagingPool pool = pool("1:1", 4);
    try (LeakLedger leaks = new LeakLedger(); Race race = new Race(2)) {
      leaks.watch(pool.permits());
      for (int i = 0; i < 1000; i++) {
        BlockScope held = new BlockScope();
        StagingBuffer only = requireNonNull(pool.acquire(held).block(LIMIT));
        Disposable waiter = pool.acquire(held).subscribe();
        race.run(only::close, waiter::dispose);
        held.close();
        leaks.assertEmpty();
      }
    }
    pool.close().block(LIMIT);
  }
}
