package io.penstock.wire.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.wire.transfer.SegmentRegistry.UnknownSegmentException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SegmentRegistryTest {
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(1 << 16);
  private final SegmentRegistry registry = new SegmentRegistry(7);

  @AfterEach
  void free() {
    arena.close();
  }

  /// A hook that refuses the k-th segment, and remembers which it was told of.
  private static final class Refusing implements SegmentRegistry.Hook {
    final Deque<String> told = new ArrayDeque<>();
    final List<String> log = new ArrayList<>();
    int refused = Integer.MAX_VALUE;

    @Override
    public void registered(Segment segment, MemorySegment memory) {
      if (refused-- == 0) {
        throw new IllegalStateException("as told");
      }
      told.push(segment.name());
      log.add("+" + segment.name());
    }

    @Override
    public void unregistered(Segment segment) {
      told.remove(segment.name());
      log.add("-" + segment.name());
    }
  }

  private static Map<String, MemorySegment> batch(Object... namesAndMemory) {
    Map<String, MemorySegment> batch = new LinkedHashMap<>();
    for (int i = 0; i < namesAndMemory.length; i += 2) {
      batch.put((String) namesAndMemory[i], (MemorySegment) namesAndMemory[i + 1]);
    }
    return batch;
  }

  @Test
  void segmentsTouch_butNeverOverlap() {
    registry.register("b", memory.asSlice(100, 100));

    registry.register("a", memory.asSlice(0, 100));
    registry.register("c", memory.asSlice(200, 1));

    for (long from : new long[] {0, 50, 99, 199, 200}) {
      assertThatThrownBy(() -> registry.register("d", memory.asSlice(from, 2))).hasMessageContaining("overlap");
    }
    assertThatThrownBy(() -> registry.register("d", memory)).hasMessageContaining("overlap");
    assertThat(registry.snapshot().segments()).extracting(Segment::name).containsExactly("a", "b", "c");
  }

  @Test
  void memoryThatCannotServe_isRefused() {
    assertThatThrownBy(() -> registry.register("a", memory.asSlice(0, 0))).hasMessageContaining("bytes");
    assertThatThrownBy(() -> registry.register("a", MemorySegment.ofArray(new byte[8]))).hasMessageContaining("native");
    assertThatThrownBy(() -> registry.register("a", memory.asReadOnly())).hasMessageContaining("writable");
    assertThatThrownBy(() -> registry.register("", memory)).hasMessageContaining("name");
    try (Arena confined = Arena.ofConfined()) {
      assertThatThrownBy(() -> registry.register("a", confined.allocate(8))).hasMessageContaining("all threads");
    }
    registry.register("a", memory.asSlice(0, 8));
    assertThatThrownBy(() -> registry.register("a", memory.asSlice(8, 8))).hasMessageContaining("in use");
    assertThat(registry.snapshot().version()).isEqualTo(1);
  }

  @Test
  void batch_isAllOrNothing_undoneInReverse_andPublishedOnce() {
    Refusing first = new Refusing();
    Refusing second = new Refusing();
    SegmentRegistry hooked = new SegmentRegistry(7, List.of(first, second), 8);
    Map<String, MemorySegment> batch =
        batch("a", memory.asSlice(0, 8), "b", memory.asSlice(8, 8), "c", memory.asSlice(16, 8));
    second.refused = 2;

    assertThatThrownBy(() -> hooked.register(batch)).hasMessage("as told");

    assertThat(first.log).containsExactly("+a", "+b", "+c", "-c", "-b", "-a");
    assertThat(second.log).containsExactly("+a", "+b", "-b", "-a");
    assertThat(hooked.snapshot().version()).isZero();
    second.refused = Integer.MAX_VALUE;
    assertThat(hooked.register(batch)).extracting(Segment::name).containsExactly("a", "b", "c");
    assertThat(hooked.snapshot().version()).isEqualTo(1);
    assertThatThrownBy(() -> hooked.register(batch("d", memory.asSlice(24, 8), "e", memory.asSlice(30, 8))))
        .hasMessageContaining("overlap");
    hooked.register("d", memory.asSlice(24, 8));
  }

  @Test
  void handle_isUnknown_afterUnregister_andAfterARestart() {
    Segment segment = registry.register("a", memory);
    registry.unregister(segment).block();
    Segment again = registry.register("a", memory);

    assertThat(again.number()).isNotEqualTo(segment.number());
    assertThatThrownBy(() -> registry.hold(segment.number(), 7, 0, 1)).isInstanceOf(UnknownSegmentException.class);
    assertThatThrownBy(() -> registry.hold(again.number(), 6, 0, 1)).isInstanceOf(UnknownSegmentException.class);
    assertThatThrownBy(() -> registry.unregister(segment).block()).isInstanceOf(UnknownSegmentException.class);
    registry.hold(again.number(), 7, 0, 1).close();
  }

  @Test
  void hold_isOfAPartInside() {
    long number = registry.register("a", memory.asSlice(0, 100)).number();
    long[][] outside = {{-1, 1}, {0, 101}, {100, 1}, {1, Long.MAX_VALUE}, {Long.MAX_VALUE, 1}, {0, -1}};
    for (long[] part : outside) {
      assertThatThrownBy(() -> registry.hold(number, 7, part[0], part[1])).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("offset");
    }
    assertThat(registry.hold(number, 7, 99, 1).memory().getFirst().address()).isEqualTo(memory.address() + 99);
  }

  @Test
  void unregister_waitsForHolds_andRefusesNewOnes() {
    Segment a = registry.register("a", memory.asSlice(0, 8));
    Segment b = registry.register("b", memory.asSlice(8, 8));
    SegmentRegistry.Hold hold = registry.hold(a.number(), 7, 0, 8);

    CompletableFuture<Void> gone = registry.unregister(List.of(a, b)).toFuture();

    assertThat(gone).isNotDone();
    assertThat(registry.snapshot().segments()).isEmpty();
    assertThat(registry.snapshot().version()).isEqualTo(3);
    assertThatThrownBy(() -> registry.hold(b.number(), 7, 0, 8)).isInstanceOf(UnknownSegmentException.class);
    assertThatThrownBy(() -> registry.register("c", memory.asSlice(0, 8))).hasMessageContaining("overlap");
    hold.close();
    hold.close();
    assertThat(gone).isDone();
    registry.register("c", memory.asSlice(0, 8));
  }

  /// Random calls against a model of what is registered, which is in use, and what hooks were told.
  @Test
  void registry_isItsModel_underSeeds() {
    for (int seed = 0; seed < 200; seed++) {
      try {
        model(new SplittableRandom(seed));
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private void model(SplittableRandom random) {
    Refusing hook = new Refusing();
    SegmentRegistry tested = new SegmentRegistry(3, List.of(hook), 4);
    boolean[] taken = new boolean[64];
    Map<Segment, int[]> live = new HashMap<>();
    Map<Segment, List<SegmentRegistry.Hold>> holds = new HashMap<>();
    List<Segment> gone = new ArrayList<>();
    long version = 0;
    for (int step = 0; step < 60; step++) {
      switch (random.nextInt(4)) {
        case 0, 1 -> {
          Map<String, MemorySegment> batch = new LinkedHashMap<>();
          Map<String, int[]> runs = new HashMap<>();
          boolean[] wanted = taken.clone();
          boolean fits = true;
          for (int i = random.nextInt(1, 4); i > 0; i--) {
            int from = random.nextInt(64);
            int to = random.nextInt(from, Math.min(64, from + 6)) + 1;
            fits &= IntStream.range(from, to).noneMatch(slot -> wanted[slot]);
            IntStream.range(from, to).forEach(slot -> wanted[slot] = true);
            batch.put("s" + step + "." + i, memory.asSlice(from * 16L, (to - from) * 16L));
            runs.put("s" + step + "." + i, new int[] {from, to});
          }
          hook.refused = random.nextInt(4) == 0 ? random.nextInt(batch.size()) : Integer.MAX_VALUE;
          boolean expected = fits && hook.refused == Integer.MAX_VALUE;
          try {
            List<Segment> registered = tested.register(batch);
            assertThat(expected).isTrue();
            registered.forEach(segment -> live.put(segment, runs.get(segment.name())));
            System.arraycopy(wanted, 0, taken, 0, taken.length);
            version++;
          } catch (IllegalArgumentException | IllegalStateException e) {
            assertThat(expected).isFalse();
          }
          hook.refused = Integer.MAX_VALUE;
        }
        case 2 -> {
          if (!live.isEmpty()) {
            Segment any = any(live, random);
            holds.computeIfAbsent(any, one -> new ArrayList<>())
                .add(tested.hold(any.number(), 3, 0, random.nextLong(any.bytes() + 1)));
          }
        }
        default -> {
          if (!live.isEmpty()) {
            Segment any = any(live, random);
            int[] run = live.remove(any);
            CompletableFuture<Void> done = tested.unregister(any).toFuture();
            version++;
            List<SegmentRegistry.Hold> held = holds.remove(any);
            assertThat(done.isDone()).isEqualTo(held == null);
            if (held != null) {
              held.forEach(SegmentRegistry.Hold::close);
            }
            assertThat(done.isDone()).isTrue();
            IntStream.range(run[0], run[1]).forEach(slot -> taken[slot] = false);
            gone.add(any);
          }
        }
      }
      assertThat(tested.snapshot().segments()).containsExactlyInAnyOrderElementsOf(live.keySet());
      assertThat(tested.snapshot().version()).isEqualTo(version);
      assertThat(hook.told).containsExactlyInAnyOrderElementsOf(live.keySet().stream().map(Segment::name).toList());
      gone.forEach(segment -> assertThatThrownBy(() -> tested.hold(segment.number(), 3, 0, 0))
          .isInstanceOf(UnknownSegmentException.class));
    }
  }

  private static Segment any(Map<Segment, int[]> live, SplittableRandom random) {
    List<Segment> sorted = live.keySet().stream().sorted((a, b) -> Long.compare(a.number(), b.number())).toList();
    return sorted.get(random.nextInt(sorted.size()));
  }

  /// Of overlapping segments that threads register at once, one wins.
  @Test
  void ofOverlappingRegistrationsAtOnce_oneWins() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      for (int round = 0; round < 200; round++) {
        CountDownLatch start = new CountDownLatch(1);
        AtomicInteger won = new AtomicInteger();
        List<Segment> registered = new ArrayList<>();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          int number = i;
          all.add(threads.submit(() -> {
            start.await();
            try {
              Segment segment = registry.register("s" + number, memory.asSlice(number, 16));
              won.incrementAndGet();
              synchronized (registered) {
                registered.add(segment);
              }
            } catch (IllegalArgumentException e) {
              assertThat(e).hasMessageContaining("overlap");
            }
            return null;
          }));
        }
        start.countDown();
        for (Future<?> one : all) {
          one.get(20, TimeUnit.SECONDS);
        }
        assertThat(won).hasValue(1);
        registry.unregister(registered).block();
      }
    }
  }
}
