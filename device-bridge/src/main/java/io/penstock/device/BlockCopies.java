package io.penstock.device;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.Owned;
import io.penstock.operator.Quiet;
import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Copies blocks into slots of a device and back, in as few batches as possible. The device's thread verifies them
/// before a copy to the device and after a copy from it.
///
/// Each batch holds its own share of both sides until its copies have ended, also after a cancel.
final class BlockCopies {
  private final Device device;
  private final String boundary;
  private final Supplier<? extends RuntimeException> closed;
  private final WorkInFlight inFlight = new WorkInFlight();

  /// @param boundary named when bytes differ from their checksums
  /// @param closed error after [#close()]
  BlockCopies(Device device, String boundary, Supplier<? extends RuntimeException> closed) {
    this.device = device;
    this.boundary = boundary;
    this.closed = closed;
  }

  /// One copy for each index of some lists.
  private interface Copies {
    CopyDirection direction();

    int count();

    /// Adds copy `i` to `batch`, with its holds.
    void add(CopyBatch batch, int i);

    /// Copy `i` has ended.
    void ended(int i);
  }

  /// Copies each block to the slot at the same index.
  Mono<Void> toDevice(List<Block> blocks, List<DeviceBlock> places) {
    return run(new Upward(blocks, places, boundary));
  }

  /// Copies `range` of each source into the draft at the same index and verifies it there.
  ///
  /// @throws IllegalArgumentException if `range` cuts through a granule, which has no checksum then
  Mono<Void> toHost(List<DeviceBlock> sources, List<BlockDraft> drafts, GranuleRange range) {
    if (!range.isWhole()) {
      throw new IllegalArgumentException("range must be of whole granules (was " + range + ")");
    }
    return run(new Downward(sources, drafts, range, boundary));
  }

  /// Refuses new copies; completes when the last batch has ended.
  Mono<Void> close() {
    return inFlight.drain();
  }

  private record Upward(List<Block> blocks, List<DeviceBlock> places, String boundary) implements Copies {
    @Override
    public CopyDirection direction() {
      return CopyDirection.TO_DEVICE;
    }

    @Override
    public int count() {
      return blocks.size();
    }

    @Override
    public void add(CopyBatch batch, int i) {
      Block block = blocks.get(i);
      LayerSpan source = block.span(GranuleRange.all(block.layout()));
      batch.hold(source).before(() -> source.verify(boundary));
      DeviceBlock place = places.get(i).share();
      batch.hold(place).add(source.memory(), place.address());
    }

    @Override
    public void ended(int i) {
      // verified on the way
    }
  }

  private record Downward(List<DeviceBlock> sources, List<BlockDraft> drafts, GranuleRange range,
      String boundary) implements Copies {
    @Override
    public CopyDirection direction() {
      return CopyDirection.TO_HOST;
    }

    @Override
    public int count() {
      return sources.size();
    }

    @Override
    public void add(CopyBatch batch, int i) {
      BlockDraft.Span target = drafts.get(i).writing(range);
      batch.hold(target);
      DeviceBlock source = sources.get(i).share();
      batch.hold(source).add(target.memory(), source.address() + range.offset(source.layout()));
    }

    @Override
    public void ended(int i) {
      drafts.get(i).verify(range, sources.get(i).checksums(range), boundary);
    }
  }

  private Mono<Void> run(Copies copies) {
    return Mono.defer(() -> {
      WorkInFlight.Hold hold = inFlight.begin();
      if (hold == null) {
        return Mono.error(closed.get());
      }
      return Flux.range(0, Math.ceilDiv(copies.count(), CopyBatch.MAX_ELEMENTS))
          .concatMap(number -> runBatch(copies, number * CopyBatch.MAX_ELEMENTS, hold), 0)
          .then().doFinally(end -> hold.close());
    });
  }

  private Mono<Void> runBatch(Copies copies, int from, WorkInFlight.Hold hold) {
    int to = Math.min(copies.count(), from + CopyBatch.MAX_ELEMENTS);
    return Quiet.afterCancel(device.turns().take(turn -> device.copy(batch(copies, from, to, hold, turn)))
        .then(Mono.<Void>fromRunnable(() -> {
          for (int i = from; i < to; i++) {
            copies.ended(i);
          }
        })).flux()).then();
  }

  private static CopyBatch batch(Copies copies, int from, int to, WorkInFlight.Hold hold, Owned turn) {
    CopyBatch batch = new CopyBatch(copies.direction()).hold(hold.share()).hold(turn);
    try {
      for (int i = from; i < to; i++) {
        copies.add(batch, i);
      }
      return batch;
    } catch (RuntimeException | Error e) { // a block was closed by its scope
      batch.close();
      throw e;
    }
  }
}
