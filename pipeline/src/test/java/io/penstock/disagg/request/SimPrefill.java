package io.penstock.disagg.request;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.request.SimMemory.Slot;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/// A process of a prefill rank: its memory, its requests, and the link on which moves take turns slice by slice.
final class SimPrefill {
  private static final class Kept {
    final List<Slot> slots;
    int reading;
    boolean released;
    Consumer<Kept> drained = kept -> {};

    Kept(List<Slot> slots) {
      this.slots = slots;
    }
  }

  final Incarnation self;
  final PrefillConnector requests;
  final SimMemory memory = new SimMemory();
  final Deque<SimTransfer> rotation = new ArrayDeque<>();
  final Map<String, Release> released = new HashMap<>();
  private final Map<String, Kept> kept = new HashMap<>();
  boolean alive = true;
  boolean busy;

  SimPrefill(Incarnation self, LifecycleOptions options, Scheduler timers) {
    this.self = self;
    this.requests = new PrefillConnector(options, new LifecycleListener() {
      @Override
      public void released(String request, Release release) {
        if (SimPrefill.this.released.put(request, release) != null) {
          throw new AssertionError(request + " must be released once");
        }
      }
    }, timers);
  }

  void open(String request, Set<RankId> receivers, int blocks) {
    Kept one = new Kept(memory.take(request, blocks));
    for (int block = 0; block < blocks; block++) {
      one.slots.get(block).parts[0] = SimMemory.value(request, block, self.rank().rank());
    }
    kept.put(request, one);
    HeldBlocks held = () -> Mono.create(sink -> release(request, one, sink));
    if (receivers.isEmpty()) {
      requests.open(request, held);
    } else {
      requests.open(request, receivers, held);
    }
  }

  private void release(String request, Kept one, MonoSink<Void> sink) {
    one.released = true;
    kept.remove(request);
    one.drained = drained -> {
      memory.free(drained.slots);
      sink.success();
    };
    if (one.reading == 0) {
      one.drained.accept(one);
    }
  }

  boolean has(String request) {
    return kept.containsKey(request);
  }

  /// Whether it has the request, or had it.
  boolean knows(String request) {
    return has(request) || released.containsKey(request);
  }

  /// Reads one block while its slice is on the link; the value is read at the end of that.
  ///
  /// @return the read, to be ended; null if the blocks are given up
  Read read(String request, int block) {
    Kept one = kept.get(request);
    return one == null ? null : new Read(one, block);
  }

  /// One block under way.
  static final class Read {
    private final Kept kept;
    private final int block;

    private Read(Kept kept, int block) {
      this.kept = kept;
      this.block = block;
      kept.reading++;
    }

    long end() {
      long value = kept.slots.get(block).parts[0];
      kept.reading--;
      if (kept.released && kept.reading == 0) {
        kept.drained.accept(kept);
      }
      return value;
    }
  }
}
