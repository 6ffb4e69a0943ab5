package io.penstock.wire.client.get;

import io.penstock.block.BlockScope;
import io.penstock.operator.Demand;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.LandedSlice;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/// Blocks that have all landed, in one slice, and wait for their reader.
final class LandedBlocks extends OneReader {
  private final BlockScope scope;
  private final StreamClock clock;
  /// Null if there are no blocks, and once it was emitted.
  private @Nullable LandedSlice slice;

  /// @param scope owns the drafts of `slice`; taken over
  /// @param clock receives the end
  /// @param slice null if there are no blocks
  LandedBlocks(int startLayer, BlockScope scope, StreamClock clock, @Nullable LandedSlice slice) {
    super(startLayer);
    this.scope = scope;
    this.clock = clock;
    this.slice = slice;
  }

  @Override
  protected void proceed() {
    CoreSubscriber<? super LandedSlice> to = reader;
    LandedSlice next = slice;
    if (done || to == null) {
      return;
    }
    if (next != null && requested > 0) {
      requested = Demand.minus(requested, 1);
      slice = null;
      to.onNext(next);
    }
    if (slice == null && !done) {
      done = true;
      letGo();
      to.onComplete();
    }
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      failure = error;
      letGo();
      if (reader != null) {
        reader.onError(error);
      }
    }
  }

  @Override
  protected void letGo() {
    clock.ended(failure instanceof CancellationException ? null : failure);
    scope.close();
  }
}
