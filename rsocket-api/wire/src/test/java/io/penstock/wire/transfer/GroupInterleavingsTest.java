package io.penstock.wire.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Every order in which a group of small items and what follows of it can end. Whatever happens, each item ends once,
/// its memory is quiet then, and an item whose bytes came counts as completed.
final class GroupInterleavingsTest {
  private static final Duration BASE = Duration.ofSeconds(10);

  /// What may happen next to an operation under way, or to the batch.
  private enum What {
    SUCCEEDS, IS_REFUSED, IS_LOST, CANCEL, DEADLINE, BACKOFF
  }

  private record Step(What what, int call) {}

  @Test
  void twoItems() {
    assertThat(explore(2, 6, new ArrayList<>())).isGreaterThan(500);
  }

  @Tag("proof")
  @Test
  void threeItems() {
    assertThat(explore(3, 7, new ArrayList<>())).isGreaterThan(20_000);
  }

  /// Plays every sequence of at most `depth` steps, and ends what is left then; answers how many there were.
  private static int explore(int items, int depth, List<Step> steps) {
    List<Step> next;
    try (Play play = new Play(items)) {
      next = play.run(steps, depth);
    }
    int played = 1;
    for (Step step : next) {
      steps.add(step);
      played += explore(items, depth, steps);
      steps.removeLast();
    }
    return played;
  }

  private static final class Play implements AutoCloseable {
    private final int items;
    private final Arena arena = Arena.ofShared();
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final FakePeer peer;
    private final Transfer transfer;
    private final List<Transfer.ItemResult> results = new ArrayList<>();
    private int completions;
    private boolean cancelled;
    private boolean late;

    Play(int items) {
      this.items = items;
      MemorySegment memory = arena.allocate(64);
      peer = new FakePeer(Map.of("kv", memory));
      peer.groupBytes = 16;
      TransferOptions options = new TransferOptions("engine", BASE, 0, 8, 1 << 20, 64, Duration.ofDays(1),
          Duration.ofDays(1), Duration.ofMillis(1), Duration.ofDays(1));
      TransferEngine engine = new TransferEngine(options, peer, time, new SplittableRandom(1));
      engine.segments("peer").block();
      TransferBatch.Builder batch = TransferBatch.builder();
      for (int i = 0; i < items; i++) {
        batch.read("peer", "kv", i, memory.asSlice(i, 1));
      }
      transfer = engine.submit(batch.build());
      transfer.results().subscribe(results::add);
      transfer.done().subscribe(result -> completions++);
    }

    /// Takes the steps, and answers which may follow.
    List<Step> run(List<Step> steps, int depth) {
      assertThat(peer.calls).as("one operation").hasSize(1);
      for (Step step : steps) {
        take(step);
        requireRight(steps);
      }
      List<Step> next = steps.size() < depth ? next() : List.of();
      if (next.isEmpty()) {
        finish(steps);
      }
      return next;
    }

    private void take(Step step) {
      switch (step.what) {
        case SUCCEEDS -> peer.calls.get(step.call).end(null);
        case IS_REFUSED -> peer.calls.get(step.call).end(new PermanentKvException("no"));
        case IS_LOST -> peer.calls.get(step.call).end(new TransientKvException("lost"));
        case CANCEL -> {
          cancelled = true;
          transfer.cancel();
        }
        case DEADLINE -> {
          late = true;
          time.advanceTimeBy(BASE);
        }
        case BACKOFF -> time.advanceTimeBy(Duration.ofMillis(2));
      }
    }

    private List<Step> next() {
      List<Step> next = new ArrayList<>();
      if (results.size() == items) {
        return next;
      }
      boolean waits = false;
      for (int i = 0; i < items; i++) {
        waits |= transfer.state(i) == TransferState.PENDING;
      }
      for (FakePeer.Call call : peer.open()) {
        int at = peer.calls.indexOf(call);
        next.add(new Step(What.SUCCEEDS, at));
        next.add(new Step(What.IS_REFUSED, at));
        next.add(new Step(What.IS_LOST, at));
      }
      if (waits) {
        next.add(new Step(What.BACKOFF, -1));
      }
      if (!cancelled) {
        next.add(new Step(What.CANCEL, -1));
      }
      if (!late) {
        next.add(new Step(What.DEADLINE, -1));
      }
      return next;
    }

    /// No item that ended is in an operation under way, and none ended twice.
    private void requireRight(List<Step> steps) {
      List<Integer> ended = results.stream().map(Transfer.ItemResult::index).toList();
      assertThat(ended).as("after " + steps).doesNotHaveDuplicates();
      for (FakePeer.Call call : peer.open()) {
        for (SegmentLink.Range range : call.ranges) {
          assertThat(ended).as("memory in use after " + steps).doesNotContain((int) range.offset());
        }
        assertThat(call.aborted).as("stopped after " + steps).isEqualTo(cancelled || late);
      }
      assertThat(completions).as("after " + steps).isEqualTo(ended.size() == items ? 1 : 0);
    }

    private void finish(List<Step> steps) {
      for (int i = 0; i < 100 && results.size() < items; i++) {
        time.advanceTimeBy(Duration.ofMillis(2));
        peer.open().forEach(call -> call.end(null));
      }
      requireRight(steps);
      assertThat(results).as("after " + steps).hasSize(items);
      assertThat(peer.open()).as("after " + steps).isEmpty();
      if (!cancelled && !late) {
        results.forEach(result -> assertThat(result.state()).as("after " + steps)
            .isIn(TransferState.COMPLETED, TransferState.FAILED));
      }
    }

    @Override
    public void close() {
      arena.close();
    }
  }
}
