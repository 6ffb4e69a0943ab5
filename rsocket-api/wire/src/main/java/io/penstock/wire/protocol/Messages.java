package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.bytes;
import static io.penstock.wire.protocol.Fields.exactly;
import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;
import static io.penstock.wire.protocol.Fields.requireTicket;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockView;
import io.penstock.block.SliceShape;
import io.penstock.block.SpaceId;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt.Durability;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The control messages of protocol version 1; those of `hello` stand at [Handshake], those of a `put` at
/// [PutMessages]. Byte strings are binary in CBOR and base64 in JSON; `PROTOCOL.md` owns their meaning.
///
/// The constructor of each message checks its fields and their ranges, and throws [WireFormatException]. The sender of
/// a request checks that the answer fits the request.
public final class Messages {
  private Messages() {}

  /// Keys of one space, in order.
  public record Keys(byte[] space, byte[] hashes) {
    public Keys {
      exactly("keys.space", space, SpaceId.BYTES);
      if (present("keys.hashes", hashes).length % BlockHash.BYTES != 0) {
        throw WireFormatException.request("keys.hashes", "a multiple of " + BlockHash.BYTES + " bytes", hashes.length);
      }
    }

    public static Keys of(List<BlockKey> keys) {
      return of(keys.getFirst().space(), keys);
    }

    /// @param keys all of `space`
    public static Keys of(SpaceId space, List<BlockKey> keys) {
      ByteBuffer hashes = ByteBuffer.allocate(keys.size() * BlockHash.BYTES);
      keys.forEach(key -> key.hash().write(hashes));
      return new Keys(bytes(space), hashes.array());
    }

    public SpaceId spaceId() {
      return SpaceId.read(ByteBuffer.wrap(space));
    }

    /// @throws WireFormatException if the space differs, or there are more than `maxKeys`
    public List<BlockKey> in(SpaceId expected, int maxKeys) {
      SpaceId named = spaceId();
      if (!named.equals(expected)) {
        throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "keys.space", "" + expected, named);
      }
      int count = hashes.length / BlockHash.BYTES;
      if (count > maxKeys) {
        throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "keys", "<= " + maxKeys, count);
      }
      return BlockKey.list(expected, ByteBuffer.wrap(hashes));
    }
  }

  /// @param lease null to lease nothing
  /// @param durability least promise that a key of the reply has, a name of [Durability]; null for any. `exists` alone
  /// @param session of the request; null for none. `match` alone
  /// @param pendingMillis how long to wait for keys that are being written; null to ask for no such keys. `match` alone
  @OmitsNulls
  public record KeysRequest(Keys keys, HoldMessages.@Nullable LeaseWanted lease, @Nullable String durability,
      SessionMessages.@Nullable Named session, @Nullable Long pendingMillis) {
    public KeysRequest {
      present("keys", keys);
      if (pendingMillis != null && (pendingMillis < 0 || lease != null)) {
        throw WireFormatException.request("pendingMillis", ">= 0, and absent with a lease", pendingMillis);
      }
      if (durability != null && lease != null) {
        throw WireFormatException.request("durability", "absent with a lease", durability);
      }
    }

    public KeysRequest(Keys keys, HoldMessages.@Nullable LeaseWanted lease, @Nullable String durability) {
      this(keys, lease, durability, null, null);
    }

    public KeysRequest(Keys keys, HoldMessages.@Nullable LeaseWanted lease) {
      this(keys, lease, null);
    }

    public KeysRequest(Keys keys) {
      this(keys, null);
    }

    /// Null if the request asks for visible blocks, whatever they promise.
    public @Nullable Durability least() {
      return durability == null ? null : oneOf(Durability.class, "durability", durability);
    }
  }

  /// @param lease null if none was asked for, or nothing was found
  /// @param pending keys right behind the prefix that are there or being written; null if none was asked for
  @OmitsNulls
  public record MatchReply(int prefix, HoldMessages.@Nullable LeaseGiven lease, @Nullable Integer pending) {
    public MatchReply(int prefix, HoldMessages.@Nullable LeaseGiven lease) {
      this(prefix, lease, null);
    }

    public MatchReply(int prefix) {
      this(prefix, null);
    }

    /// Keys right behind the prefix that are there or being written; 0 from a node that does not tell.
    ///
    /// @throws WireFormatException if there are more than the rest of `keys` keys
    public int pendingOf(int keys) {
      int behind = pending == null ? 0 : pending;
      if (behind < 0 || behind > keys - of(keys)) {
        throw WireFormatException.request("pending", "in [0, " + (keys - prefix) + "]", behind);
      }
      return behind;
    }

    /// @throws WireFormatException if it is no prefix of `keys` keys
    public int of(int keys) {
      if (prefix < 0 || prefix > keys) {
        throw WireFormatException.request("prefix", "in [0, " + keys + "]", prefix);
      }
      return prefix;
    }
  }

  /// One bit a key: bit `i & 7` of byte `i >> 3`.
  public record Bits(int size, byte[] bits) {
    public Bits {
      long length = length(present("bits", bits));
      if (size < 0 || length > size) {
        throw WireFormatException.request("bits.size", ">= " + length + ", the last bit set", size);
      }
    }

    /// Position behind the last bit set.
    private static long length(byte[] bits) {
      int last = bits.length - 1;
      while (last >= 0 && bits[last] == 0) {
        last--;
      }
      return last < 0
          ? 0
          : (long) Byte.SIZE * (last + 1) - Integer.numberOfLeadingZeros(bits[last] & 0xFF)
              + Integer.SIZE - Byte.SIZE;
    }

    public static Bits of(Presence presence) {
      return new Bits(presence.size(), presence.toByteArray());
    }

    public Presence presence() {
      return Presence.of(size, bits);
    }

    /// @throws WireFormatException if these are not bits for `keys` keys
    public Presence of(int keys) {
      requireOf("bits", keys);
      return presence();
    }

    private void requireOf(String field, int keys) {
      if (size != keys) {
        throw WireFormatException.request(field + ".size", "" + keys, size);
      }
    }
  }

  /// Bits with a lease, or of keys with a durability.
  ///
  /// @param durability that the request asked for; null if it asked for none
  @OmitsNulls
  public record ExistsReply(int size, byte[] bits, HoldMessages.@Nullable LeaseGiven lease,
      @Nullable String durability) {
    public ExistsReply {
      new Bits(size, bits); // checks them
    }

    public static ExistsReply of(Presence presence, HoldMessages.@Nullable LeaseGiven lease) {
      return new ExistsReply(presence.size(), presence.bits().toByteArray(), lease, null);
    }

    public static ExistsReply of(Presence presence, Durability durability) {
      return new ExistsReply(presence.size(), presence.bits().toByteArray(), null, durability.name());
    }

    /// @throws WireFormatException if these are not bits for `keys` keys
    public Presence of(int keys) {
      return new Bits(size, bits).of(keys);
    }

    /// @throws WireFormatException if a node of an earlier release answered, which reports visible blocks whatever they
    ///     promise
    public Presence of(int keys, Durability least) {
      if (!least.name().equals(durability)) {
        throw WireFormatException.request("durability", "repeated by the node, as nodes do that know it",
            String.valueOf(durability));
      }
      return of(keys);
    }
  }

  /// @param lease names the read lease to read under; null for none
  /// @param proof bytes that the client read in the node's probe, so that slices may come as references; null for none
  /// @param verifies whether the client compares each byte, so that the node need not; null for no
  /// @param view part of each block; null for the whole block, from `startLayer` on
  /// @param request whose lease at a prefill rank is renewed as bytes move; null for none
  /// @param session of the request; null for none
  @OmitsNulls
  public record GetRequest(Keys keys, String onMiss, String order, int startLayer, int maxSliceBytes, int windowBlocks,
      long ticket, @Nullable Long lease, byte @Nullable [] proof, @Nullable Boolean verifies, @Nullable View view,
      @Nullable String request, SessionMessages.@Nullable Named session) {
    /// The end of the field of LIMIT_EXCEEDED for blocks that do not fit in the answer of a short get.
    public static final String ONE_ANSWER = "in one answer";

    public GetRequest {
      present("keys", keys);
      requireTicket(ticket);
      if (lease != null && !OnMiss.SKIP.name().equals(onMiss)) {
        throw WireFormatException.request("onMiss", "SKIP with a lease", onMiss);
      }
      if (view != null && startLayer != 0) {
        throw WireFormatException.request("startLayer", "0 with a view", startLayer);
      }
    }

    public GetRequest(Keys keys, String onMiss, String order, int startLayer, int maxSliceBytes, int windowBlocks,
        long ticket, @Nullable Long lease, byte @Nullable [] proof, @Nullable Boolean verifies, @Nullable View view,
        @Nullable String request) {
      this(keys, onMiss, order, startLayer, maxSliceBytes, windowBlocks, ticket, lease, proof, verifies, view, request,
          null);
    }

    public GetRequest(Keys keys, String onMiss, String order, int startLayer, int maxSliceBytes, int windowBlocks,
        long ticket, @Nullable Long lease, byte @Nullable [] proof, @Nullable Boolean verifies) {
      this(keys, onMiss, order, startLayer, maxSliceBytes, windowBlocks, ticket, lease, proof, verifies, null, null);
    }

    public GetRequest(Keys keys, String onMiss, String order, int startLayer, int maxSliceBytes, int windowBlocks,
        long ticket) {
      this(keys, onMiss, order, startLayer, maxSliceBytes, windowBlocks, ticket, null, null, null);
    }

    public boolean isVerified() {
      return Boolean.TRUE.equals(verifies);
    }

    public OnMiss miss() {
      return oneOf(OnMiss.class, "onMiss", onMiss);
    }

    public SliceShape.Order sliceOrder() {
      return oneOf(SliceShape.Order.class, "order", order);
    }
  }

  /// The layers, heads and tokens that are asked for of each block, as they are numbered in the node's blocks.
  public record View(int layer, int layers, int head, int heads, int token, int tokens) {
    public static View of(BlockView view, BlockLayout layout) {
      return new View(view.firstLayer(layout), view.layers(layout), view.firstHead(), view.heads(), view.firstToken(),
          view.tokens());
    }

    /// @param sliceBytes most bytes of a slice
    /// @throws WireFormatException if it is no part of a block of `layout`, or one token does not fit a slice
    public BlockView in(BlockLayout layout, int sliceBytes) {
      BlockView view;
      try {
        view = BlockView.of(layout, layer, layers, head, heads, token, tokens);
      } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
        throw WireFormatException.request("view", "inside a block: " + e.getMessage(), this);
      }
      for (int plane = 0; plane < layout.planes().size(); plane++) {
        if (view.tokenBytes(layout, plane) > sliceBytes) {
          throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "maxSliceBytes",
              ">= one token of the view, " + view.tokenBytes(layout, plane), sliceBytes);
        }
      }
      return view;
    }
  }

  /// First payload of a `get` response.
  public record Found(Bits hits, Bits found, Bits admitted, Bits awaited) {
    public Found {
      present("hits", hits);
      present("found", found);
      present("admitted", admitted);
      present("awaited", awaited);
    }

    /// @throws WireFormatException if this is no decision on `keys` keys
    public void requireOf(int keys) {
      hits.requireOf("hits", keys);
      found.requireOf("found", keys);
      admitted.requireOf("admitted", keys);
      awaited.requireOf("awaited", keys);
    }

    /// Positions of the keys whose blocks may come.
    public BitSet coming() {
      BitSet coming = BitSet.valueOf(found.bits);
      coming.or(BitSet.valueOf(admitted.bits));
      coming.or(BitSet.valueOf(awaited.bits));
      return coming;
    }
  }

  /// @param space whose figures are asked for; null for the first
  @OmitsNulls
  public record StatRequest(byte @Nullable [] space) {
    public StatRequest() {
      this(null);
    }
  }

  public record DrainRequest(long ticket) {}

  /// All slices of the windows up to `window` of the stream with `ticket` have landed.
  public record Landed(long ticket, int window) {
    public Landed {
      requireTicket(ticket);
      if (window < 0) {
        throw WireFormatException.request("window", ">= 0", window);
      }
    }
  }

  public record DrainReply(boolean drained) {}

  /// @param generation of the node that numbered `after`; null for any node
  /// @param space whose events are asked for; null for the first
  /// @param snapshot whether to begin with a snapshot; then `after` is 0
  /// @param sessions whether ends of sessions are wanted, too
  @OmitsNulls
  public record EventsRequest(long after, @Nullable Long generation, byte @Nullable [] space,
      @Nullable Boolean snapshot, @Nullable Boolean sessions) {
    public EventsRequest(long after, @Nullable Long generation, byte @Nullable [] space, @Nullable Boolean snapshot) {
      this(after, generation, space, snapshot, null);
    }

    public EventsRequest(long after) {
      this(after, null, null, null);
    }

    EventsRequest(long after, @Nullable Long generation) {
      this(after, generation, null, null);
    }

    public boolean wantsSessions() {
      return sessions != null && sessions;
    }

    public boolean isSnapshot() {
      return snapshot != null && snapshot;
    }

    /// @throws WireFormatException if `after` is of another generation than `mine`, or beyond the `newest` event
    public void requireKnown(long mine, long newest) {
      if (generation != null && generation != mine) {
        throw WireFormatException.request("generation", "" + mine + ": the node has restarted", generation);
      }
      if (isSnapshot() && after != 0) {
        throw WireFormatException.request("after", "0 with a snapshot", after);
      }
      if (after < 0 || after > newest) {
        throw WireFormatException.request("after", "in [0, " + newest + "], the newest event", after);
      }
    }
  }
}
