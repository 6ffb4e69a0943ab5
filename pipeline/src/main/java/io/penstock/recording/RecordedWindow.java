package io.penstock.recording;

import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A window of a tier that is recorded: its slices, its blocks and its close are turns.
final class RecordedWindow extends LeasedWindow {
  private final Turns turns;
  private final int tier;
  private final long flow;
  private final LeasedWindow window;
  private final BlockScope inner = new BlockScope();

  RecordedWindow(Turns turns, int tier, long flow, LeasedWindow window) {
    this.turns = turns;
    this.tier = tier;
    this.flow = flow;
    this.window = window;
  }

  long flow() {
    return flow;
  }

  @Override
  public int size() {
    return window.size();
  }

  @Override
  protected Flux<LayerSlice> transferred(int number) {
    return TurnStream.flux(turns, tier, slices -> RecordedEvent.of(Kind.SLICES, slices).with(flow, number),
        () -> window.slices(number), new TurnStream.Passage<>() {
          @Override
          public LayerSlice sent(long slices, LayerSlice slice) {
            turns.add(RecordedEvent.of(Kind.SLICE, slices).ofTier(tier).with(slice.place().window(),
                slice.place().remaining(), slice.range().first(), slice.range().count(), slice.range().firstRow(),
                slice.spans().size()));
            return slice;
          }

          @Override
          public void drop(LayerSlice slice) {
            slice.close();
          }
        });
  }

  @Override
  public Mono<List<LeasedBlock>> blocks(BlockScope scope) {
    return TurnStream.mono(turns, tier, blocks -> RecordedEvent.of(Kind.BLOCKS, blocks).with(flow),
        () -> window.blocks(inner), new BlockPassage(turns, tier, scope)).doOnNext(blocks -> markClosed());
  }

  @Override
  protected void free() {
    turns.run(() -> RecordedEvent.of(Kind.CLOSE, flow).ofTier(tier), window::close);
  }
}
