package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.slice.DraftWindow;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// One window of a `put` on its way in: a run of keys, of which the tier wants those that it does not have. They come
/// whole and are committed in one step.
///
/// The sender is told which keys are wanted before the tier makes room for them: room is claimed when the first slice
/// has come, so a sender that stays silent takes no memory from others. Every call is a step of the stream's [Serial];
/// the reservation is the stream's.
final class IncomingWindow {
  private final int first;
  private final List<BlockKey> run;
  private final BitSet wanted;
  private final int maxSliceBytes;
  private final DraftWindow drafts;
  /// Wanted keys, by position in the request, that the tier got from another writer before this one's first slice came:
  /// their bytes are dropped.
  private final BitSet dropped = new BitSet();
  private @Nullable Reservation reservation;

  /// @param first position of the first key of `run`
  /// @param present which keys of `run` the tier has
  IncomingWindow(int number, int first, List<BlockKey> run, Presence present, int maxSliceBytes) {
    this.first = first;
    this.run = run;
    this.wanted = present.bits();
    this.wanted.flip(0, run.size());
    this.maxSliceBytes = maxSliceBytes;
    this.drafts = new DraftWindow(number);
  }

  /// What the sender is told of it.
  PutMessages.Room room() {
    return new PutMessages.Room(drafts.number(), first, Messages.Bits.of(Presence.of(run.size(), wanted)));
  }

  /// Whether the tier wants none of its keys.
  boolean isEmpty() {
    return wanted.isEmpty();
  }

  /// Position of the first key that is wanted; there is one.
  int firstWanted() {
    return first + wanted.nextSetBit(0);
  }

  /// The wanted keys.
  List<BlockKey> keys() {
    return wanted.stream().mapToObj(run::get).toList();
  }

  /// Whether there is room for its slices.
  boolean hasRoom() {
    return reservation != null;
  }

  /// Whether its room was taken back, as a tier does that closes.
  boolean isRevoked() {
    return room(reservation).isClosed();
  }

  /// There is room now.
  ///
  /// @param claimed for [#keys()]
  void land(Reservation claimed) {
    reservation = claimed;
    Map<BlockKey, BlockDraft> byKey = new HashMap<>();
    claimed.drafts().forEach(draft -> byKey.put(draft.key(), draft));
    wanted.stream().forEach(i -> {
      BlockDraft draft = byKey.get(run.get(i));
      if (draft == null) {
        dropped.set(first + i);
      } else {
        drafts.add(first + i, draft);
      }
    });
  }

  /// Slices that must still come: exact once the first came, before that the least that can carry the bytes.
  long slicesLeft(BlockLayout layout) {
    return drafts.hasBegun()
        ? drafts.remaining()
        : Math.ceilDiv((long) wanted.cardinality() * layout.blockBytes(), (long) maxSliceBytes);
  }

  /// Lands one slice; true if it was the last.
  ///
  /// @param keys of the request
  boolean land(ByteBuf data, List<BlockKey> keys, BlockLayout layout) {
    SliceHeader header =
        SliceHeader.decode(data, run.getFirst().space(), layout, maxSliceBytes, keys.size());
    header.requireKeys(keys);
    try {
      drafts.follow(header.place());
      Landing.land(data, header, layout, drafts, dropped);
    } catch (UnexpectedSliceException e) {
      throw WireFormatException.slice(e);
    }
    return header.endsWindow();
  }

  /// Commits all of it, in the order of the request.
  ///
  /// @throws io.penstock.block.IncompleteBlockException if granules did not come; nothing is committed then
  Mono<List<Receipt>> commit() {
    drafts.requireComplete(0);
    return room(reservation).commit(List.copyOf(drafts.drafts()));
  }

  /// Ends it. A tier may answer fewer receipts than there were drafts, so each is found by its key.
  List<PutMessages.Stored> stored(List<Receipt> receipts) {
    room(reservation).close();
    Map<BlockKey, Integer> positions = new HashMap<>();
    drafts.byPosition().forEach((position, draft) -> positions.put(draft.key(), position));
    List<PutMessages.Stored> stored = new ArrayList<>(receipts.size());
    for (Receipt receipt : receipts) {
      stored.add(PutMessages.Stored.of(requireNonNull(positions.get(receipt.key()), "a receipt is for a committed key"),
          receipt));
    }
    return stored;
  }

  private static Reservation room(@Nullable Reservation claimed) {
    return requireNonNull(claimed, "a window must have room before slices land");
  }
}
