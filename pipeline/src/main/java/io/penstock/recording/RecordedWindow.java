package io.penstock.recording;

import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A window of a tier that is recorded: its slices, its blocks and its close are turns.
final class RecordedWindow extends LeasedWindow {
  private static final int SLICE_NUMBERS = 6;

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
            turns.add(RecordedEvent.of(Kind.SLICE, slices).ofTier(tier).with(numbers(slice)));
            return slice;
          }

          @Override
          public void drop(LayerSlice slice) {
            slice.close();
          }
        });
  }

  private long[] numbers(LayerSlice slice) {
    List<LayerSpan> spans = slice.spans();
    long[] numbers = new long[SLICE_NUMBERS + (turns.tellsChecksums() ? spans.size() : 0)];
    numbers[0] = slice.place().window();
    numbers[1] = slice.place().remaining();
    numbers[2] = slice.range().first();
    numbers[3] = slice.range().count();
    numbers[4] = slice.range().firstRow();
    numbers[5] = spans.size();
    for (int i = SLICE_NUMBERS; i < numbers.length; i++) {
      LayerSpan span = spans.get(i - SLICE_NUMBERS);
      numbers[i] = span.isOfVerifiedGranules() ? PayloadKeeper.checksum(span.granuleChecksums()) : Payloads.UNKNOWN;
    }
    return numbers;
  }

  @Override
  public Mono<List<LeasedBlock>> blocks(BlockScope scope) {
    return TurnStream.mono(turns, tier, blocks -> RecordedEvent.of(Kind.BLOCKS, blocks).with(flow),
        () -> window.blocks(inner), new BlockPassage(turns, tier, scope)).doOnNext(blocks -> markClosed());
  }

  @Override
  protected void free() {
    turns.run(() -> RecordedEvent.of(Kind.CLOSE, flow).ofTier(tier), () -> {
      window.close();
      inner.close();
    });
  }
}
