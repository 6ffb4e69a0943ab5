package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/// One item of a submitted batch, or the notification of one of its peers, on its way to a [Peer]. All but its life is
/// touched by steps of that peer only.
final class Work {
  final Transfer transfer;
  final Peer peer;
  final ItemLife life = new ItemLife();
  /// Index in the batch; -1 for a notification.
  final int index;
  final long bytes;
  private final TransferBatch.@Nullable Item item;
  private final SegmentLink.@Nullable Letter letter;

  final ItemClock clock;
  int attempt = 1;
  /// A group that it was in failed, or was stopped: it goes alone from now on.
  boolean alone;
  /// Share of the lane that it takes.
  int place;
  /// Report for a listener; made when it has ended.
  TransferListener.@Nullable ItemReport report;
  /// Number of descriptions of the peer when the last attempt began.
  long described;
  /// Generation of the peer that the attempt met.
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
    this.clock = new ItemClock(transfer.listener());
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

  /// Direction of its bytes; null for a notification.
  TransferBatch.@Nullable Direction direction() {
    return item == null ? null : item.direction();
  }

  /// Whether it may share an operation with `other`.
  boolean isLike(Work other) {
    return isItem() && direction() == other.direction() && Objects.equals(stagedMemory(), other.stagedMemory())
        && Objects.equals(transfer.trace(), other.transfer.trace());
  }

  private @Nullable StagedMemory stagedMemory() {
    TransferBatch.Staged staged = item == null ? null : item.staged();
    return staged == null ? null : staged.memory();
  }

  /// Reports the end to the listener.
  ///
  /// @param why null if it completed
  void report(@Nullable TransferFailure why) {
    TransferListener.ItemReport made = clock.report(this, why);
    if (made != null) {
      report = made;
      transfer.listener().ended(made);
    }
  }

  /// Begins one operation of `works` on `to`, whose peer is described by `known`.
  ///
  /// @param works one, or several items of one direction, each of which is inside its segment
  static SegmentLink.Operation begin(List<Work> works, SegmentLink to, SegmentRegistry.Snapshot known,
      SegmentLink.Ending ending) {
    works.forEach(work -> work.generation = known.generation());
    Work first = works.getFirst();
    if (first.letter != null) {
      return to.tell(first.letter, ending);
    }
    List<SegmentLink.Range> ranges = new ArrayList<>(works.size());
    List<MemorySegment> local = new ArrayList<>(works.size());
    for (Work work : works) {
      TransferBatch.Item one = requireNonNull(work.item);
      Segment segment = found(one, known);
      ranges.add(new SegmentLink.Range(segment.generation(), segment.number(), one.offset(), work.bytes));
      local.addAll(one.local());
    }
    boolean reads = first.direction() == TransferBatch.Direction.READ;
    StagedOperation.Move move =
        (host, end) -> reads ? to.read(ranges, host, end) : to.write(ranges, host, end);
    StagedMemory staged = first.stagedMemory();
    return staged == null
        ? move.begin(local, ending)
        : StagedOperation.begin(staged, works.stream().map(Work::stagedPart).toList(), reads, move, ending);
  }

  private StagedMemory.Part stagedPart() {
    return requireNonNull(requireNonNull(item).staged()).part();
  }

  /// Checks that the peer has the range of this item.
  ///
  /// @throws SegmentRegistry.UnknownSegmentException if the peer lacks the segment
  /// @throws TransferEngine.RangeException if the item is not inside the segment
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
