package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.block.BlockDraft;
import io.penstock.block.Owned;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Room for blocks that are about to be written: reserve, write, then commit. Closing gives back the room that was not
/// committed.
public abstract class Reservation extends Owned {
  /// A draft for each key that the tier wants, in key order. The reservation owns the drafts.
  public abstract List<BlockDraft> drafts();

  /// Keys without a draft, and so without a receipt: the tier has them, or another writer is writing them.
  public abstract Presence skipped();

  /// Skipped keys that are visible: a put of them is done, without a transfer.
  public Presence duplicates() {
    return skipped();
  }

  /// Why the tier ended this reservation; null if it did not.
  public @Nullable Throwable failure() {
    return null;
  }

  /// Makes complete drafts of this reservation visible, all in one step, and answers a receipt for each, in order. A
  /// commit of drafts that were all committed before changes nothing and answers the same receipts. A key that another
  /// writer took over, because this one took too long, gets no receipt.
  ///
  /// Signals [io.penstock.block.IncompleteBlockException] if a granule is missing: nothing was published then; and
  /// [TierClosedException].
  ///
  /// @return a cold `Mono`; each subscription is one commit
  public abstract Mono<List<Receipt>> commit(List<BlockDraft> complete);

  /// No room became free for blocks in time: blocks that have it are read, leased, pinned or being written. A retry can
  /// succeed.
  public static final class RoomTimeoutException extends TransientKvException {
    private final String place;
    private final long wanted;
    private final long free;
    private final Duration timeout;

    /// @param place that has no room
    /// @param wanted blocks that want room there
    /// @param free blocks for which there was room in the end
    /// @param timeout how long they waited
    public RoomTimeoutException(String place, long wanted, long free, Duration timeout) {
      super("%s must have room for %d blocks within %d ms (was room for %d)".formatted(place, wanted,
          timeout.toMillis(), free));
      this.place = requireNonNull(place, "place");
      this.wanted = wanted;
      this.free = free;
      this.timeout = requireNonNull(timeout, "timeout");
    }

    public String place() {
      return place;
    }

    public long wanted() {
      return wanted;
    }

    public long free() {
      return free;
    }

    public Duration timeout() {
      return timeout;
    }
  }
}
