package io.penstock.wire.server.route;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.operator.Serial;
import io.penstock.tier.PutRoom;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.slice.DraftWindow;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.slice.ArrivingSlice;
import io.penstock.wire.slice.Landing;
import io.penstock.wire.slice.SliceHeader;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// One window of a `put` on its way in: a run of keys with room for those that the tier wants, which come whole and are
/// committed in one step.
///
/// Every call is a step of the stream's `Serial`; the reservation is the stream's.
final class IncomingWindow {
  private final int first;
  private final int blocks;
  private final Reservation reservation;
  private final PutRoom room;
  private final int maxSliceBytes;
  private final boolean outcomes;
  private final int firstWanted;
  private final @Nullable BlockDraft any;

  /// @param first position of the first key of `run`
  /// @param reservation of `run`
  /// @param outcomes whether a damaged block fails alone
  IncomingWindow(int number, int first, List<BlockKey> run, Reservation reservation, int maxSliceBytes,
      boolean outcomes) {
    this.outcomes = outcomes;
    this.first = first;
    this.blocks = run.size();
    this.reservation = reservation;
    this.room = new PutRoom(number, first, run, reservation);
    this.maxSliceBytes = maxSliceBytes;
    this.any = room.isEmpty() ? null : drafts().drafts().iterator().next();
    this.firstWanted = room.isEmpty() ? -1 : drafts().position(0);
  }

  /// Room message for the sender.
  PutMessages.Room room() {
    return new PutMessages.Room(drafts().number(), first, Messages.Bits.of(room.wanted()),
        outcomes ? Messages.Bits.of(room.duplicates()) : null);
  }

  /// Its number in the put.
  int number() {
    return drafts().number();
  }

  /// Blocks of its run.
  int blocks() {
    return blocks;
  }

  /// Whether the tier wants none of its keys.
  boolean isEmpty() {
    return room.isEmpty();
  }

  /// Position of the first key that is wanted; there is one.
  int firstWanted() {
    return firstWanted;
  }

  /// The error to report when a slice could not land because of `failure`.
  RuntimeException causeOf(IllegalStateException failure, String tier) {
    return room.causeOf(failure, tier);
  }

  /// Slices that must still come: exact once the first came, before that the minimum that can carry the bytes.
  long slicesLeft() {
    return drafts().hasBegun() ? drafts().remaining() : Math.ceilDiv(bytes(), (long) maxSliceBytes);
  }

  private long bytes() {
    return (long) drafts().drafts().size() * layout().blockBytes();
  }

  private DraftWindow drafts() {
    return room.drafts();
  }

  private BlockLayout layout() {
    return any().layout();
  }

  private BlockDraft any() {
    return requireNonNull(any, "a window without drafts has no slices");
  }

  /// Memory for the bytes of the slice that comes next; null if they must come with it.
  ///
  /// @param head first bytes of the slice, its whole header among them
  /// @param bytes of the slice
  /// @param keys of the request
  @Nullable ArrivingSlice arrives(ByteBuf head, int bytes, List<BlockKey> keys) {
    SliceHeader header = header(head, bytes, keys);
    if (!drafts().hasDrafts(header.positions())) {
      return null; // a block of it is damaged, or was not asked for
    }
    try {
      drafts().follow(header.place());
      return ArrivingSlice.of(header, drafts());
    } catch (UnexpectedSliceException e) {
      throw WireFormatException.slice(e);
    }
  }

  /// Lands one slice; true if it was the last.
  ///
  /// @param keys of the request
  /// @param landing of the stream
  boolean land(ByteBuf data, List<BlockKey> keys, Landing landing) {
    SliceHeader header = header(data, data.readableBytes(), keys);
    try {
      drafts().follow(header.place());
      if (outcomes) {
        landing.landIntact(data, header, layout(), drafts());
      } else {
        landing.land(data, header, layout(), drafts());
      }
    } catch (UnexpectedSliceException e) {
      throw WireFormatException.slice(e);
    }
    return header.endsWindow();
  }

  private SliceHeader header(ByteBuf head, int bytes, List<BlockKey> keys) {
    SliceHeader header = SliceHeader.decode(head, bytes, any().key().space(), layout(), maxSliceBytes, keys.size());
    header.requireKeys(keys);
    return header;
  }

  /// Lands a slice that has arrived; true if it was the last.
  boolean land(ArrivingSlice slice, Landing landing) {
    try {
      if (outcomes) {
        landing.landIntact(slice, layout(), drafts());
      } else {
        landing.land(slice, layout(), drafts());
      }
    } catch (UnexpectedSliceException e) {
      throw WireFormatException.slice(e);
    }
    return slice.header().endsWindow();
  }

  /// Commits the whole window, in the order of the request.
  ///
  /// @throws io.penstock.block.IncompleteBlockException if granules are missing; nothing is committed then
  Mono<List<Receipt>> commit() {
    return room.commit();
  }

  /// Blocks that were damaged on their way; null if the sender wants no outcomes, or there are none.
  @Nullable List<PutMessages.Failed> failed() {
    return drafts().damaged().isEmpty()
        ? null
        : drafts().damaged().keySet().stream()
            .map(position -> new PutMessages.Failed(position, ErrorCode.BLOCK_CORRUPT.store())).toList();
  }

  /// Ends it. A tier may answer fewer receipts than there were drafts, so each is found by its key.
  List<PutMessages.Stored> stored(List<Receipt> receipts) {
    reservation.close();
    List<PutMessages.Stored> stored = new ArrayList<>(receipts.size());
    for (Receipt receipt : receipts) {
      stored.add(PutMessages.Stored.of(drafts().position(receipt.key()), receipt));
    }
    return stored;
  }
}
