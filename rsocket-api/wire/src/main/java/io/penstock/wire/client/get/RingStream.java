package io.penstock.wire.client.get;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.budget.Permits;
import io.penstock.carrier.LeasedMemory;
import io.penstock.operator.Demand;
import io.penstock.tier.slice.DraftWindow;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.LandedSlice;
import io.penstock.wire.slice.SliceHeader;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/// Blocks that a node leased through a read ring, on their way into drafts: each is copied when a reader asks for it
/// and the arena has a slot, verified there, and its lease given back. Nothing is in flight between two of them, so no
/// byte of the budget is charged.
final class RingStream extends OneReader {
  private final GetSetting setting;
  private final StreamClock clock;
  private final BlockScope scope = new BlockScope();
  private final List<LeasedMemory> leased;
  private int next;
  private Permits.@Nullable Ticket ticket;

  /// @param leased one a key of the request, in its order; taken over
  /// @param clock receives the bytes, and the end
  RingStream(GetSetting setting, List<LeasedMemory> leased, StreamClock clock) {
    super(setting.startLayer());
    this.setting = setting;
    this.leased = leased;
    this.clock = clock;
  }

  @Override
  protected void proceed() {
    while (!done && requested > 0 && next < leased.size() && ticket == null && reader != null) {
      List<BlockKey> key = List.of(leased.get(next).key());
      List<BlockDraft> drafts = setting.arena().tryClaim(key);
      if (drafts != null) {
        land(drafts.getFirst());
      } else {
        ticket = setting.arena().claim(key, granted -> serial.run(() -> turn(granted.getFirst())),
            error -> serial.run(() -> fail(error)));
      }
    }
    if (!done && next == leased.size() && reader != null) {
      done = true;
      letGo();
      reader.onComplete();
    }
  }

  private void turn(BlockDraft draft) {
    ticket = null;
    if (done) {
      draft.close();
      return;
    }
    land(draft);
    proceed();
  }

  private void land(BlockDraft draft) {
    LeasedMemory block = leased.get(next);
    try (block) {
      scope.adopt(draft);
      requested = Demand.minus(requested, 1);
      DraftWindow window = new DraftWindow(next);
      LayerSlice.Position place = new LayerSlice.Position(next, 0);
      window.add(next, draft);
      window.follow(place);
      BlockLayout layout = setting.arena().layout();
      GranuleRange all = GranuleRange.all(layout);
      int[] checksums = block.checksums();
      land(window, all, checksums, block);
      clock.count(layout.blockBytes(), true);
      SliceHeader header =
          new SliceHeader(place, all, null, new int[] {next}, new int[][] {checksums}, 0, 0, true, false);
      next++;
      emit(LandedSlice.now(header, window));
    }
  }

  private void land(DraftWindow window, GranuleRange all, int[] checksums, LeasedMemory block) {
    try {
      window.land(next, all, checksums, "wire", block::copy);
    } catch (BlockCorruptException e) {
      block.differs();
      throw e;
    }
  }

  private void emit(LandedSlice landed) {
    CoreSubscriber<? super LandedSlice> to = reader;
    if (to != null) {
      to.onNext(landed);
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
    if (ticket != null && ticket.cancel()) {
      ticket = null;
    }
    leased.forEach(LeasedMemory::close);
    scope.close();
  }
}
