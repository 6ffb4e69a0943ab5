package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockDraft;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Room at one member for the keys of a request that no member has.
final class PartReservation extends Reservation {
  private final @Nullable Reservation room;
  private final Presence skipped;
  private final Presence duplicates;

  /// @param room at the member; null if every key is somewhere
  /// @param run keys of the request that it is for
  /// @param present keys that a member has
  PartReservation(@Nullable Reservation room, KeyRun run, Presence present) {
    this.room = room;
    this.skipped = room == null ? present : with(present, run.in(room.skipped()));
    this.duplicates = room == null ? present : with(present, run.in(room.duplicates()));
  }

  private static Presence with(Presence present, BitSet more) {
    BitSet all = present.bits();
    all.or(more);
    return Presence.of(present.size(), all);
  }

  @Override
  public List<BlockDraft> drafts() {
    return room == null ? List.of() : room.drafts();
  }

  @Override
  public Presence skipped() {
    return skipped;
  }

  @Override
  public Presence duplicates() {
    return duplicates;
  }

  @Override
  public @Nullable Throwable failure() {
    return room == null ? null : room.failure();
  }

  @Override
  public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
    if (room != null) {
      return room.commit(complete);
    }
    return Mono.fromSupplier(() -> {
      if (isClosed()) {
        throw new IllegalStateException("reservation must be open (was closed)");
      } else if (!complete.isEmpty()) {
        throw new IllegalArgumentException("drafts must be of this reservation (was another's)");
      }
      return List.of();
    });
  }

  @Override
  protected void free() {
    if (room != null) {
      room.close();
    }
  }
}
