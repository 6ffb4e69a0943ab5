package io.penstock.recording;

import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.Presence;
import java.util.List;
import reactor.core.publisher.Flux;

/// A lease of a tier that is recorded: its streams, and its close, are turns.
///
/// The tier's own handles stay in a scope of the lease; the reader's scope gets handles of its own after the turn, so a
/// scope that is closed meanwhile changes no turn.
final class RecordedLease extends Lease {
  private final Turns turns;
  private final int tier;
  private final long flow;
  private final Lease lease;
  private final BlockScope inner = new BlockScope();
  private volatile boolean verifies = true;

  RecordedLease(Turns turns, int tier, long flow, Lease lease) {
    this.turns = turns;
    this.tier = tier;
    this.flow = flow;
    this.lease = lease;
  }

  long flow() {
    return flow;
  }

  @Override
  public Presence hits() {
    return lease.hits();
  }

  @Override
  public Presence found() {
    return lease.found();
  }

  @Override
  public Presence admitted() {
    return lease.admitted();
  }

  @Override
  public Presence awaited() {
    return lease.awaited();
  }

  @Override
  public Lease unverified() {
    verifies = false;
    lease.unverified();
    return this;
  }

  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    return TurnStream.flux(turns, tier,
        windows -> RecordedEvent.of(Kind.WINDOWS, windows).with(flow, maxBlocks, verifies ? 1 : 0),
        () -> lease.windows(maxBlocks, inner), new BlockPassage(turns, tier, scope));
  }

  @Override
  public Flux<LeasedWindow> slicedWindows(SliceShape shape, BlockScope scope) {
    return TurnStream.flux(turns, tier,
        windows -> RecordedEvent.of(Kind.SLICED_WINDOWS, windows).with(flow, shape.windowBlocks(), shape.sliceBytes(),
            shape.order().ordinal(), shape.startLayer(), verifies ? 1 : 0),
        () -> lease.slicedWindows(shape, inner), new TurnStream.Passage<LeasedWindow, LeasedWindow>() {
          @Override
          public LeasedWindow sent(long windows, LeasedWindow window) {
            long own = turns.newFlow();
            turns.add(RecordedEvent.of(Kind.WINDOW, windows).ofTier(tier).with(own, window.size()));
            return new RecordedWindow(turns, tier, own, window);
          }

          @Override
          public void handOver(LeasedWindow window) {
            scope.adopt(window);
          }

          @Override
          public void drop(LeasedWindow window) {
            window.close();
          }
        });
  }

  @Override
  protected void free() {
    turns.run(() -> RecordedEvent.of(Kind.CLOSE, flow).ofTier(tier), () -> {
      lease.close();
      inner.close(); // with what was made ready for a reader that left before it asked
    });
  }
}
