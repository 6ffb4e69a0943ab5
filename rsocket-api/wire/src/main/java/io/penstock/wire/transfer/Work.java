package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/// One item of a submitted batch, or the notification of one of its peers, on its way to a [Peer]. All but its life is
/// touched by steps of that peer only.
final class Work {
  final Transfer transfer;
  final Peer peer;
  final ItemLife life = new ItemLife();
  /// In the batch; -1 for a notification.
  final int index;
  final long bytes;
  private final TransferBatch.@Nullable Item item;
  private final SegmentLink.@Nullable Letter letter;

  int attempt = 1;
  /// How often the peer had been described when an attempt last began.
  long described;
  /// Of the peer that the attempt met.
  long generation;
  /// Null while no operation is under way.
  SegmentLink.@Nullable Operation operation;
  @Nullable SegmentLink link;
  /// Why the link of the operation went.
  @Nullable Throwable lost;
  final Disposable.Swap timer = Disposables.swap();

  private Work(Transfer transfer, Peer peer, int index, long bytes, TransferBatch.@Nullable Item item,
      SegmentLink.@Nullable Letter letter) {
    this.transfer = transfer;
    this.peer = peer;
    this.index = index;
    this.bytes = bytes;
    this.item = item;
    this.letter = letter;
  }

  static Work of(Transfer transfer, Peer peer, int index, TransferBatch.Item item) {
    return new Work(transfer, peer, index, item.bytes(), item, null);
  }

  static Work of(Transfer transfer, Peer peer, SegmentLink.Letter letter) {
    return new Work(transfer, peer, -1, 0, null, letter);
  }

  boolean isItem() {
    return item != null;
  }

  /// Begins the operation on `link`, whose peer is described by `known`.
  ///
  /// @throws SegmentRegistry.UnknownSegmentException if the peer lacks the segment
  /// @throws TransferEngine.RangeException if the item is not inside the segment
  SegmentLink.Operation begin(SegmentLink to, SegmentRegistry.Snapshot known, SegmentLink.Ending ending) {
    generation = known.generation();
    if (letter != null) {
      return to.tell(letter, ending);
    }
    TransferBatch.Item one = requireNonNull(item);
    Segment segment = found(one, known);
    SegmentLink.Range range = new SegmentLink.Range(segment.generation(), segment.number(), one.offset(), bytes);
    List<MemorySegment> local = one.local();
    return one.direction() == TransferBatch.Direction.READ
        ? to.read(range, local, ending)
        : to.write(range, local, ending);
  }

  /// Throws what [#begin] would, and begins nothing.
  void requireIn(SegmentRegistry.Snapshot known) {
    if (letter != null) {
      if (letter.generation() != known.generation()) {
        throw new SegmentRegistry.UnknownSegmentException("any", letter.generation());
      }
    } else if (item != null) {
      Segment segment = found(item, known);
      if (item.offset() + bytes > segment.bytes()) {
        throw new TransferEngine.RangeException(segment, item.offset(), bytes);
      }
    }
  }

  private static Segment found(TransferBatch.Item item, SegmentRegistry.Snapshot known) {
    Segment pinned = item.pinned();
    for (Segment segment : known.segments()) {
      if (pinned == null ? segment.name().equals(item.segment()) : segment.equals(pinned)) {
        return segment;
      }
    }
    throw new SegmentRegistry.UnknownSegmentException(item.segment(), pinned == null ? 0 : pinned.generation());
  }

  /// Whether a second attempt can end otherwise.
  boolean mayPass(Throwable error) {
    boolean stale = error instanceof SegmentRegistry.UnknownSegmentException && item != null && item.pinned() == null;
    return stale || error instanceof TransientKvException;
  }
}
