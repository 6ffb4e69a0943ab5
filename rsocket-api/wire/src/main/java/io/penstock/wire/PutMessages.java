package io.penstock.wire;

import static io.penstock.wire.Fields.copied;
import static io.penstock.wire.Fields.oneOf;
import static io.penstock.wire.Fields.present;
import static io.penstock.wire.Fields.requireTicket;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.block.BlockKey;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierHolds.PutTerms;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The control messages of a `put` channel; see [Messages] for what holds for all.
final class PutMessages {
  private PutMessages() {}

  /// First payload of a `put` channel.
  ///
  /// @param pin of each block when it becomes visible; null for none
  /// @param group of all blocks; null for none
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record PutRequest(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket,
      HoldMessages.@Nullable PinWanted pin, @Nullable String group) {
    /// Most characters of the name of a group.
    private static final int LONGEST_GROUP = 256;

    PutRequest {
      present("keys", keys);
      requireTicket(ticket);
      if (group != null && group.length() > LONGEST_GROUP) {
        throw WireFormatException.request("group", "of <= " + LONGEST_GROUP + " characters", group.length());
      }
    }

    PutRequest(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket) {
      this(keys, maxSliceBytes, windowBlocks, ticket, null, null);
    }

    static PutRequest of(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket, PutTerms terms) {
      return new PutRequest(keys, maxSliceBytes, windowBlocks, ticket,
          terms.pin() == null ? null : HoldMessages.PinWanted.of(terms.pin()),
          terms.group().isEmpty() ? null : terms.group());
    }

    PutTerms terms() {
      return new PutTerms(pin == null ? null : pin.pin(), group == null ? "" : group);
    }
  }

  /// A payload of a `put` response: there is room for a window, or blocks were stored; exactly one of the two.
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record PutSignal(@Nullable Room room, @Nullable List<Stored> stored) {
    PutSignal {
      if ((room == null) == (stored == null)) {
        throw WireFormatException.request("put signal", "room or stored", room == null ? "neither" : "both");
      }
      stored = stored == null ? null : copied("stored", stored);
    }
  }

  /// Room for the keys `first … first + wanted.size`, of which the set bits are wanted.
  record Room(int window, int first, Messages.Bits wanted) {
    Room {
      present("room.wanted", wanted);
      if (window < 0) {
        throw WireFormatException.request("room.window", ">= 0", window);
      }
    }

    /// @throws WireFormatException if this is no run of at most `windowBlocks` of `keys` keys
    void requireIn(int keys, int windowBlocks) {
      if (wanted.size() > windowBlocks) {
        throw WireFormatException.request("room.wanted.size", "<= " + windowBlocks, wanted.size());
      }
      if (first < 0 || first > keys - wanted.size()) {
        throw WireFormatException.request("room.first", "in [0, " + (keys - wanted.size()) + "]", first);
      }
    }
  }

  record Stored(int position, String tier, String durability, long sequence) {
    Stored {
      present("stored.tier", tier);
    }

    static Stored of(int position, Receipt receipt) {
      return new Stored(position, receipt.tier(), receipt.durability().name(), receipt.sequence());
    }

    /// @throws WireFormatException if the position is not of one of `keys`
    Receipt receipt(List<BlockKey> keys) {
      if (position < 0 || position >= keys.size()) {
        throw WireFormatException.request("stored.position", "in [0, " + keys.size() + ")", position);
      }
      return new Receipt(keys.get(position), tier, oneOf(Durability.class, "durability", durability), sequence);
    }
  }
}
