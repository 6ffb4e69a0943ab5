package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.copied;
import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;
import static io.penstock.wire.protocol.Fields.requireTicket;

import io.penstock.block.BlockKey;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierHolds.PutTerms;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The control messages of a `put` channel; see [Messages] for what holds for all.
public final class PutMessages {
  private PutMessages() {}

  /// First payload of a `put` channel.
  ///
  /// @param pin of each block when it becomes visible; null for none
  /// @param group of all blocks; null for none
  /// @param upsert whether to replace blocks that are there; null for no
  /// @param outcomes whether the sender wants an outcome for each key, so that a damaged block fails alone; null for no
  @OmitsNulls
  public record PutRequest(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket,
      HoldMessages.@Nullable PinWanted pin, @Nullable String group, @Nullable Boolean upsert,
      @Nullable Boolean outcomes) {
    /// Maximum number of characters of the name of a group.
    private static final int LONGEST_GROUP = 256;

    public PutRequest {
      present("keys", keys);
      requireTicket(ticket);
      if (group != null && group.length() > LONGEST_GROUP) {
        throw WireFormatException.request("group", "of <= " + LONGEST_GROUP + " characters", group.length());
      }
    }

    public PutRequest(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket) {
      this(keys, maxSliceBytes, windowBlocks, ticket, null, null, null, null);
    }

    public static PutRequest of(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket, PutTerms terms) {
      return new PutRequest(keys, maxSliceBytes, windowBlocks, ticket,
          terms.pin() == null ? null : HoldMessages.PinWanted.of(terms.pin()),
          terms.group().isEmpty() ? null : terms.group(), terms.upserts() ? true : null, true);
    }

    public PutTerms terms() {
      return new PutTerms(pin == null ? null : pin.pin(), group == null ? "" : group, upsert != null && upsert);
    }

    public boolean wantsOutcomes() {
      return outcomes != null && outcomes;
    }
  }

  /// A payload of a `put` response: there is room for a window, or blocks were stored; exactly one of the two.
  ///
  /// @param failed beside `stored`: blocks of the window that were not stored, and the reasons
  /// @param landed beside `stored`: number of the window, of which all slices have landed; null to a sender that keeps
  ///     nothing for that
  @OmitsNulls
  public record PutSignal(@Nullable Room room, @Nullable List<Stored> stored, @Nullable List<Failed> failed,
      @Nullable Integer landed) {
    public PutSignal(@Nullable Room room, @Nullable List<Stored> stored) {
      this(room, stored, null, null);
    }

    public PutSignal {
      if ((room == null) == (stored == null)) {
        throw WireFormatException.request("put signal", "room or stored", room == null ? "neither" : "both");
      }
      stored = stored == null ? null : copied("stored", stored);
      failed = failed == null ? null : copied("failed", failed);
      if (landed != null && landed < 0) {
        throw WireFormatException.request("landed", ">= 0", landed);
      }
    }
  }

  /// A block that was not stored.
  ///
  /// @param code an integer of Mooncake Store
  public record Failed(int position, int code) {
    /// @throws WireFormatException if the position is not of one of `keys`
    public BlockKey key(List<BlockKey> keys) {
      if (position < 0 || position >= keys.size()) {
        throw WireFormatException.request("failed.position", "in [0, " + keys.size() + ")", position);
      }
      return keys.get(position);
    }
  }

  /// Room for the keys `first … first + wanted.size`, of which the set bits are wanted.
  ///
  /// @param present keys that are visible already; null from a node that does not report them, or to a sender that did
  ///     not ask
  @OmitsNulls
  public record Room(int window, int first, Messages.Bits wanted, Messages.@Nullable Bits present) {
    public Room(int window, int first, Messages.Bits wanted) {
      this(window, first, wanted, null);
    }

    public Room {
      Fields.present("room.wanted", wanted);
      if (window < 0) {
        throw WireFormatException.request("room.window", ">= 0", window);
      }
    }

    /// @throws WireFormatException if this is no run of at most `windowBlocks` of `keys` keys
    public void requireIn(int keys, int windowBlocks) {
      if (wanted.size() > windowBlocks) {
        throw WireFormatException.request("room.wanted.size", "<= " + windowBlocks, wanted.size());
      }
      if (first < 0 || first > keys - wanted.size()) {
        throw WireFormatException.request("room.first", "in [0, " + (keys - wanted.size()) + "]", first);
      }
    }
  }

  public record Stored(int position, String tier, String durability, long sequence) {
    public Stored {
      present("stored.tier", tier);
    }

    public static Stored of(int position, Receipt receipt) {
      return new Stored(position, receipt.tier(), receipt.durability().name(), receipt.sequence());
    }

    /// @throws WireFormatException if the position is not of one of `keys`
    public Receipt receipt(List<BlockKey> keys) {
      if (position < 0 || position >= keys.size()) {
        throw WireFormatException.request("stored.position", "in [0, " + keys.size() + ")", position);
      }
      return new Receipt(keys.get(position), tier, oneOf(Durability.class, "durability", durability), sequence);
    }
  }
}
