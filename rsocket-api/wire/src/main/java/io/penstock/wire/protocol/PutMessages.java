package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.copied;
import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;
import static io.penstock.wire.protocol.Fields.requireTicket;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierHolds.BlockTokens;
import io.penstock.tier.TierHolds.PutTerms;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
  /// @param tokens token ids of the blocks; null for none
  /// @param session of the request; null for none
  @OmitsNulls
  public record PutRequest(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket,
      HoldMessages.@Nullable PinWanted pin, @Nullable String group, @Nullable Boolean upsert,
      @Nullable Boolean outcomes, @Nullable Tokens tokens, SessionMessages.@Nullable Named session) {
    /// Maximum number of characters of the name of a group.
    private static final int LONGEST_GROUP = 256;

    public PutRequest {
      present("keys", keys);
      requireTicket(ticket);
      if (group != null && group.length() > LONGEST_GROUP) {
        throw WireFormatException.request("group", "of <= " + LONGEST_GROUP + " characters", group.length());
      }
      if (tokens != null && tokens.parents.length != keys.hashes().length) {
        throw WireFormatException.request("tokens.parents", keys.hashes().length + " bytes, one hash for each key",
            tokens.parents.length);
      }
    }

    public PutRequest(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket) {
      this(keys, maxSliceBytes, windowBlocks, ticket, null, null, null, null);
    }

    public PutRequest(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket,
        HoldMessages.@Nullable PinWanted pin, @Nullable String group, @Nullable Boolean upsert,
        @Nullable Boolean outcomes) {
      this(keys, maxSliceBytes, windowBlocks, ticket, pin, group, upsert, outcomes, null);
    }

    public PutRequest(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket,
        HoldMessages.@Nullable PinWanted pin, @Nullable String group, @Nullable Boolean upsert,
        @Nullable Boolean outcomes, @Nullable Tokens tokens) {
      this(keys, maxSliceBytes, windowBlocks, ticket, pin, group, upsert, outcomes, tokens, null);
    }

    /// @param tokens of the keys; null for none
    public static PutRequest of(Messages.Keys keys, int maxSliceBytes, int windowBlocks, long ticket, PutTerms terms,
        @Nullable Tokens tokens) {
      return new PutRequest(keys, maxSliceBytes, windowBlocks, ticket,
          terms.pin() == null ? null : HoldMessages.PinWanted.of(terms.pin()),
          terms.group().isEmpty() ? null : terms.group(), terms.upserts() ? true : null, true, tokens,
          SessionMessages.Named.of(terms.session()));
    }

    /// @param asked the keys of this request
    /// @param blockTokens tokens of a block
    /// @param maxKeys maximum number of keys of a request; tokens share its bytes
    /// @throws WireFormatException if it has not exactly `blockTokens` token ids for each key, or too many bytes of
    ///     keys and tokens
    public PutTerms terms(List<BlockKey> asked, int blockTokens, int maxKeys) {
      return new PutTerms(pin == null ? null : pin.pin(), group == null ? "" : group, upsert != null && upsert,
          tokens == null ? Map.of() : tokens.of(asked, blockTokens, maxKeys),
          SessionMessages.Named.use(session));
    }

    public boolean wantsOutcomes() {
      return outcomes != null && outcomes;
    }
  }

  /// The token ids of the blocks of a put, for the events of the node.
  ///
  /// @param parents hash of the block before each key's, 16 bytes each; zeros for the first block of a prompt
  /// @param ids of all blocks in the order of the keys, equally many each; 32 bits each, little-endian
  public record Tokens(byte[] parents, byte[] ids) {
    public Tokens {
      if (present("tokens.parents", parents).length % BlockHash.BYTES != 0) {
        throw WireFormatException.request("tokens.parents", "a multiple of " + BlockHash.BYTES + " bytes",
            parents.length);
      }
      if (present("tokens.ids", ids).length % Integer.BYTES != 0) {
        throw WireFormatException.request("tokens.ids", "a multiple of " + Integer.BYTES + " bytes", ids.length);
      }
    }

    /// @param tokens of each of `asked`, equally many each; null is returned for none
    /// @param maxKeys maximum number of keys of a request
    /// @throws IllegalArgumentException if a key has no tokens or another number of them, or there are too many
    public static @Nullable Tokens of(List<BlockKey> asked, Map<BlockKey, BlockTokens> tokens, int maxKeys) {
      if (tokens.isEmpty() || asked.isEmpty()) {
        return null;
      }
      int each = known(asked.getFirst(), tokens).ids().length;
      if (bytes(asked.size(), each) > most(maxKeys)) {
        throw new IllegalArgumentException("tokens must be <= %d bytes with keys and parents (was %d); put fewer blocks"
            .formatted(most(maxKeys), bytes(asked.size(), each)) + " at once");
      }
      ByteBuffer parents = ByteBuffer.allocate(asked.size() * BlockHash.BYTES);
      ByteBuffer ids = ByteBuffer.allocate(asked.size() * each * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      for (BlockKey key : asked) {
        BlockTokens known = known(key, tokens);
        if (known.ids().length != each) {
          throw new IllegalArgumentException(
              "tokens of " + key + " must be " + each + ", as of the first key (was " + known.ids().length + ")");
        }
        known.parent().write(parents);
        for (int id : known.ids()) {
          ids.putInt(id);
        }
      }
      return new Tokens(parents.array(), ids.array());
    }

    private static BlockTokens known(BlockKey key, Map<BlockKey, BlockTokens> tokens) {
      BlockTokens known = tokens.get(key);
      if (known == null) {
        throw new IllegalArgumentException("tokens must be of every key of the put (was none of " + key + ")");
      }
      return known;
    }

    private Map<BlockKey, BlockTokens> of(List<BlockKey> asked, int blockTokens, int maxKeys) {
      long wanted = (long) asked.size() * blockTokens * Integer.BYTES;
      if (ids.length != wanted) {
        throw WireFormatException.request("tokens.ids",
            wanted + " bytes, " + blockTokens + " ids for each of " + asked.size() + " keys", ids.length);
      }
      if (bytes(asked.size(), blockTokens) > most(maxKeys)) {
        throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "tokens",
            "<= " + most(maxKeys) + " bytes with keys and parents", bytes(asked.size(), blockTokens));
      }
      ByteBuffer hashes = ByteBuffer.wrap(parents);
      ByteBuffer all = ByteBuffer.wrap(ids).order(ByteOrder.LITTLE_ENDIAN);
      Map<BlockKey, BlockTokens> tokens = LinkedHashMap.newLinkedHashMap(asked.size());
      for (BlockKey key : asked) {
        int[] own = new int[blockTokens];
        for (int i = 0; i < blockTokens; i++) {
          own[i] = all.getInt();
        }
        tokens.put(key, new BlockTokens(BlockHash.read(hashes), own));
      }
      return tokens;
    }

    /// Bytes of keys, parents and token ids.
    private static long bytes(int keys, int blockTokens) {
      return keys * (2L * BlockHash.BYTES + (long) blockTokens * Integer.BYTES);
    }

    /// The bytes of `maxKeys` keys: so a message with tokens is no longer than one without may be.
    private static long most(int maxKeys) {
      return (long) maxKeys * BlockHash.BYTES;
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
