package io.penstock.wire.segment;

import io.penstock.block.BlockScope;
import io.penstock.wire.slice.InFlight;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transfer.StagedMemory;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/// Host memory of one read or write of segments: their own, or, if the CPU does not reach that, a place where their
/// bytes are staged. Copies under way hold the stream's memory until they have ended, even if the stream ends first.
public final class SegmentRoom {
  private final SegmentRegistry.Hold hold;
  private final InFlight inFlight;
  private final BlockScope scope;
  private final Disposable.Swap waiting = Disposables.swap();
  private StagedMemory.@Nullable Staging staging;

  /// @param hold closed when the stream is drained
  /// @param inFlight of the stream
  public SegmentRoom(SegmentRegistry.Hold hold, InFlight inFlight) {
    this.hold = hold;
    this.inFlight = inFlight;
    this.scope = inFlight.openScope();
    inFlight.onDrained(() -> {
      scope.close();
      hold.close();
    });
  }

  public boolean isStaged() {
    return hold.staged() != null;
  }

  /// The memory of segments that are not staged.
  public List<MemorySegment> memory() {
    return hold.memory();
  }

  /// Passes the memory to `ready` when there is room.
  void open(Consumer<List<MemorySegment>> ready, Consumer<Throwable> failed) {
    StagedMemory memory = hold.staged();
    if (memory == null) {
      ready.accept(hold.memory());
      return;
    }
    waiting.update(memory.stage(hold.stagedParts(), scope).subscribe(room -> {
      staging = room;
      ready.accept(room.host());
    }, failed));
  }

  /// Passes the memory to `ready` once it has the bytes of the segments.
  public void fetch(Consumer<List<MemorySegment>> ready, Consumer<Throwable> failed) {
    open(memory -> copy(staging == null ? Mono.empty() : staging.fetch(), () -> ready.accept(memory), failed), failed);
  }

  /// Copies the bytes of the memory to the segments, then runs `stored`.
  void store(Runnable stored, Consumer<Throwable> failed) {
    copy(staging == null ? Mono.empty() : staging.store(), stored, failed);
  }

  private void copy(Mono<Void> work, Runnable done, Consumer<Throwable> failed) {
    Runnable ended = inFlight.enter(() -> {});
    work.subscribe(nothing -> {}, error -> {
      ended.run();
      failed.accept(error);
    }, () -> {
      ended.run();
      done.run();
    });
  }

  /// Stops waiting for room: the stream is over.
  public void leave() {
    waiting.dispose();
  }
}
