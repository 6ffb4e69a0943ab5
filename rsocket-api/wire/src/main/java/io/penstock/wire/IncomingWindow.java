package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import reactor.core.publisher.Mono;

/// One window of a `put` on its way in: a run of keys with room for those that the tier wants, which come whole and are
/// committed in one step.
///
/// The slices count down to 0, or are a typed error. Every call is a step of the stream's [Serial]; the reservation is
/// the stream's.
final class IncomingWindow {
  private final int index;
  private final int first;
  private final Presence wanted;
  private final Reservation reservation;
  private final int maxSliceBytes;
  /// Drafts by position, which is in the order of the request.
  private final Map<Integer, BlockDraft> drafts = new TreeMap<>();
  /// Slices that must still come: exact once the first was seen, before that the least that can carry the bytes.
  private long slicesLeft;
  private boolean exact;

  /// @param first position of the first key of `run`
  /// @param reservation of `run`
  IncomingWindow(int index, int first, List<BlockKey> run, Reservation reservation, int maxSliceBytes) {
    this.index = index;
    this.first = first;
    this.reservation = reservation;
    this.maxSliceBytes = maxSliceBytes;
    Map<BlockKey, Integer> places = new HashMap<>();
    for (int i = 0; i < run.size(); i++) {
      places.put(run.get(i), i);
    }
    BitSet asked = new BitSet();
    long bytes = 0;
    for (BlockDraft draft : reservation.drafts()) {
      int place = requireNonNull(places.get(draft.key()), "a draft is of a reserved key");
      asked.set(place);
      drafts.put(first + place, draft);
      bytes += draft.layout().blockBytes();
    }
    this.wanted = Presence.of(run.size(), asked);
    this.slicesLeft = Math.ceilDiv(bytes, (long) maxSliceBytes);
  }

  /// What the sender is told of it.
  PutMessages.Room room() {
    return new PutMessages.Room(index, first, Messages.Bits.of(wanted));
  }

  /// Whether the tier wants none of its keys.
  boolean isEmpty() {
    return drafts.isEmpty();
  }

  /// Position of the first key that is wanted, of those there are.
  int firstWanted() {
    return drafts.keySet().iterator().next();
  }

  /// Whether its room was taken back, as a tier does that closes.
  boolean isOver() {
    return reservation.isClosed();
  }

  long slicesLeft() {
    return slicesLeft;
  }

  /// Lands one slice; true if it was the last.
  ///
  /// @param keys of the request
  boolean land(ByteBuf data, List<BlockKey> keys) {
    BlockDraft any = drafts.values().iterator().next();
    SliceHeader header = SliceHeader.decode(data, any.key().space(), any.layout(), maxSliceBytes, keys.size());
    header.requireKeys(keys);
    follow(header);
    for (int i = 0; i < header.positions().length; i++) {
      BlockDraft draft = drafts.get(header.positions()[i]);
      if (draft == null) {
        throw WireFormatException.slice("position", "a wanted key of window " + index, header.positions()[i]);
      }
      Landing.land(data, header, i, draft);
    }
    return header.endsWindow();
  }

  private void follow(SliceHeader header) {
    if (header.place().window() != index) {
      throw WireFormatException.slice("window", "" + index, header.place().window());
    }
    if (exact && header.place().remaining() != slicesLeft - 1) {
      throw WireFormatException.slice("remaining", "" + (slicesLeft - 1), header.place().remaining());
    }
    exact = true;
    slicesLeft = header.place().remaining();
  }

  /// Commits all of it, in the order of the request.
  ///
  /// @throws io.penstock.block.IncompleteBlockException if granules did not come; nothing is committed then
  Mono<List<Receipt>> commit() {
    drafts.values().forEach(BlockDraft::requireComplete);
    return reservation.commit(List.copyOf(drafts.values()));
  }

  /// Ends it. A tier may answer fewer receipts than there were drafts, so each is found by its key.
  List<PutMessages.Stored> stored(List<Receipt> receipts) {
    reservation.close();
    Map<BlockKey, Integer> positions = new HashMap<>();
    drafts.forEach((position, draft) -> positions.put(draft.key(), position));
    List<PutMessages.Stored> stored = new ArrayList<>(receipts.size());
    for (Receipt receipt : receipts) {
      stored.add(PutMessages.Stored.of(requireNonNull(positions.get(receipt.key()), "a receipt is for a committed key"),
          receipt));
    }
    return stored;
  }
}
