package io.penstock.wire.transfer;

import io.penstock.block.BlockScope;
import io.penstock.operator.Failures;
import io.penstock.operator.Serial;
import io.penstock.wire.trace.TraceContext;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/// An operation whose local memory is staged: room, then the copy out and the write, or the read and the copy in. It
/// ends when neither the wire nor the device uses the host memory. All state is touched by [#steps] only.
final class StagedOperation implements SegmentLink.Operation {
  /// Begins the part of it that goes over the wire.
  interface Move {
    SegmentLink.Operation begin(List<MemorySegment> host, SegmentLink.Ending ending);
  }

  private final boolean reads;
  private final Move move;
  private final SegmentLink.Ending ending;
  private final Serial steps = new Serial(this::end);
  private final BlockScope scope = new BlockScope();
  private final Disposable.Swap waiting = Disposables.swap();
  private StagedMemory.@Nullable Staging staging;
  private SegmentLink.@Nullable Operation moving;
  private boolean aborted;
  private boolean over;

  private StagedOperation(boolean reads, Move move, SegmentLink.Ending ending) {
    this.reads = reads;
    this.move = move;
    this.ending = ending;
  }

  static StagedOperation begin(StagedMemory memory, List<StagedMemory.Part> parts, boolean reads, Move move,
      SegmentLink.Ending ending) {
    StagedOperation begun = new StagedOperation(reads, move, ending);
    begun.waiting.update(memory.stage(parts, begun.scope).subscribe(
        staging -> begun.steps.run(() -> begun.staged(staging)), error -> begun.steps.run(() -> begun.end(error))));
    return begun;
  }

  private void staged(StagedMemory.Staging host) {
    if (over) { // stopped while it waited; the scope has closed it
      return;
    }
    staging = host;
    if (reads) {
      move(host);
    } else {
      copy(host.fetch(), () -> move(host));
    }
  }

  /// A copy cannot be stopped: a stop of the operation waits for it.
  private void copy(Mono<Void> work, Runnable then) {
    work.subscribe(nothing -> {}, error -> steps.run(() -> end(error)), () -> steps.run(then));
  }

  private void move(StagedMemory.Staging host) {
    if (aborted) {
      end(new CancellationException("operation was stopped"));
      return;
    }
    try {
      moving = move.begin(host.host(), new Moved(host));
    } catch (RuntimeException | Error e) {
      end(Failures.passable(e));
    }
  }

  /// Receives the end of the part that goes over the wire.
  private final class Moved implements SegmentLink.Ending {
    private final StagedMemory.Staging host;

    Moved(StagedMemory.Staging host) {
      this.host = host;
    }

    @Override
    public void ended(@Nullable Throwable error) {
      steps.run(() -> moved(host, error));
    }

    @Override
    public @Nullable TraceContext trace() {
      return ending.trace();
    }
  }

  private void moved(StagedMemory.Staging host, @Nullable Throwable error) {
    if (error == null && reads) {
      copy(host.store(), () -> end(null));
    } else {
      end(error);
    }
  }

  private void end(@Nullable Throwable error) {
    if (!over) {
      over = true;
      scope.close();
      ending.ended(error);
    }
  }

  @Override
  public void abort() {
    steps.run(() -> {
      aborted = true;
      if (moving != null) {
        moving.abort();
      } else if (staging == null) {
        waiting.dispose();
        end(new CancellationException("operation was stopped"));
      }
    });
  }

  @Override
  public long sharedBytes() {
    SegmentLink.Operation moved = moving;
    return moved == null ? 0 : moved.sharedBytes();
  }

  @Override
  public long verifyNanos() {
    SegmentLink.Operation moved = moving;
    return moved == null ? 0 : moved.verifyNanos();
  }
}
