package io.penstock.wire.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.PermanentKvException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Every order of ends, failures, deadlines and a cancel of a few items, against a model of what each must be then.
final class ItemInterleavingsTest {
  private static final Duration BASE = Duration.ofSeconds(10);
  private static final int CANCEL = -1;
  private static final int DEADLINE = -2;

  @Test
  void twoItems_oneAtATime() {
    assertThat(explore(2, 1)).isGreaterThan(100);
  }

  @Test
  void twoItems_bothAtOnce() {
    assertThat(explore(2, 2)).isGreaterThan(200);
  }

  @Test
  void threeItems_twoAtOnce() {
    assertThat(explore(3, 2)).isGreaterThan(2_000);
  }

  @Tag("proof")
  @Test
  void fourItems() {
    assertThat(explore(4, 2) + explore(4, 3)).isGreaterThan(100_000);
  }

  /// Plays every sequence of steps to its end; answers how many there were.
  private static int explore(int items, int lane) {
    try (Arena arena = Arena.ofShared()) {
      return explore(items, lane, arena.allocate(64), new ArrayList<>());
    }
  }

  private static int explore(int items, int lane, MemorySegment memory, List<Integer> steps) {
    List<Integer> next = new Play(items, lane, memory).run(steps);
    int played = 1;
    for (int step : next) {
      steps.add(step);
      played += explore(items, lane, memory, steps);
      steps.removeLast();
    }
    return played;
  }

  /// The engine and its model, from the start.
  private static final class Play {
    private final int items;
    private final int lane;
    private final FakePeer peer;
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final Transfer transfer;
    private final List<Integer> ended = new ArrayList<>();
    private boolean done;
    private int completions;
    private final TransferState[] states;
    private final @Nullable TransferState[] verdicts;
    private final List<Integer> endedInModel = new ArrayList<>();
    private int deadlines;
    private boolean cancelled;

    Play(int items, int lane, MemorySegment memory) {
      this.items = items;
      this.lane = lane;
      this.states = new TransferState[items];
      this.verdicts = new TransferState[items];
      Arrays.fill(states, TransferState.WAITING);
      this.peer = new FakePeer(Map.of("kv", memory));
      TransferOptions options = new TransferOptions("engine", BASE, 1_000_000_000, lane, 1 << 20, 64,
          Duration.ofDays(1), Duration.ofDays(1), Duration.ofMillis(1), Duration.ofDays(1));
      TransferEngine engine = new TransferEngine(options, peer, time, new SplittableRandom(1));
      TransferBatch.Builder batch = TransferBatch.builder();
      for (int i = 0; i < items; i++) { // sizes differ, so deadlines do
        batch.read("peer", "kv", i, memory.asSlice(0, i + 1));
      }
      this.transfer = engine.submit(batch.build());
      transfer.results().subscribe(result -> ended.add(result.index()));
      transfer.done().subscribe(result -> {
        done = true;
        completions++;
      });
      admit();
    }

    /// Takes the steps, and answers which may follow.
    List<Integer> run(List<Integer> steps) {
      requireSame(steps);
      for (int step : steps) {
        take(step);
        requireSame(steps);
      }
      return next();
    }

    private void take(int step) {
      if (step == CANCEL) {
        cancelled = true;
        for (int i = 0; i < items; i++) {
          stop(i, TransferState.CANCELLED);
        }
        transfer.cancel();
      } else if (step == DEADLINE) {
        stop(deadlines, TransferState.TIMEOUT);
        deadlines++;
        time.advanceTimeBy(deadlines == 1 ? BASE.plusSeconds(1) : Duration.ofSeconds(1));
      } else {
        int item = step / 2;
        boolean succeeds = step % 2 == 0;
        TransferState verdict = verdicts[item];
        end(item, succeeds ? TransferState.COMPLETED : verdict == null ? TransferState.FAILED : verdict);
        call(item).end(succeeds ? null : new PermanentKvException("as told"));
      }
      admit();
    }

    private FakePeer.Call call(int item) {
      return peer.calls.stream().filter(call -> call.offset == item).findFirst().orElseThrow();
    }

    private void stop(int item, TransferState why) {
      if (states[item] == TransferState.WAITING) {
        end(item, why);
      } else if (states[item] == TransferState.IN_PROGRESS && verdicts[item] == null) {
        verdicts[item] = why;
      }
    }

    private void end(int item, TransferState state) {
      states[item] = state;
      endedInModel.add(item);
    }

    private void admit() {
      for (int i = 0; i < items; i++) {
        long running = Arrays.stream(states).filter(state -> state == TransferState.IN_PROGRESS).count();
        if (states[i] == TransferState.WAITING && running < lane) {
          states[i] = TransferState.IN_PROGRESS;
        }
      }
    }

    private List<Integer> next() {
      List<Integer> next = new ArrayList<>();
      boolean over = Arrays.stream(states).allMatch(TransferState::isTerminal);
      if (!cancelled && !over) {
        next.add(CANCEL);
      }
      if (deadlines < items && !over) {
        next.add(DEADLINE);
      }
      for (int i = 0; i < items; i++) {
        if (states[i] == TransferState.IN_PROGRESS) {
          next.add(2 * i);
          next.add(2 * i + 1);
        }
      }
      return next;
    }

    private void requireSame(List<Integer> steps) {
      for (int i = 0; i < items; i++) {
        if (transfer.state(i) != states[i]) {
          throw new AssertionError("after " + steps + " item " + i + " must be " + states[i] + " (was "
              + transfer.state(i) + ")");
        }
        boolean aborted = verdicts[i] != null;
        if (states[i] == TransferState.IN_PROGRESS && call(i).aborted != aborted) {
          throw new AssertionError("after " + steps + " item " + i + " must be aborted: " + aborted);
        }
      }
      boolean over = Arrays.stream(states).allMatch(TransferState::isTerminal);
      if (!ended.equals(endedInModel) || done != over || completions > 1) {
        throw new AssertionError("after " + steps + " ended must be " + endedInModel + ", " + over + " (was " + ended
            + ", " + done + ")");
      }
    }
  }
}
