package io.penstock.wire;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.ElementType;
import io.penstock.block.Plane;
import io.penstock.block.PlaneKind;
import io.penstock.block.SliceOrder;
import io.penstock.block.SpaceId;
import io.penstock.block.TokenOrder;
import io.penstock.tier.Durability;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierEvent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The control messages of protocol version 1. Byte strings are binary in CBOR and base64 in JSON; `PROTOCOL.md` owns their meaning.
///
/// A message that exists has all its fields, and numbers in their ranges: what breaks a rule is a [WireFormatException] from its
/// constructor, whichever side reads it. What must agree with a request is checked by whoever made the request.
final class Messages {
  private Messages() {}

  /// What a peer holds; the salt itself never travels, its effect is in `id`.
  record Space(byte[] id, String model, int layers, int tokens, String order, List<PlaneShape> planes, int group) {
    Space {
      exactly("space.id", id, SpaceId.BYTES);
      present("space.model", model);
      present("space.order", order);
      planes = copied("space.planes", planes);
    }

    static Space of(CacheSpace space) {
      BlockLayout layout = space.layout();
      return new Space(bytes(space.id()), space.model(), layout.layers(), layout.tokens(), layout.order().name(),
          layout.planes().stream().map(PlaneShape::of).toList(), space.group());
    }

    /// The first difference from `mine`, or null.
    @Nullable String difference(CacheSpace mine) {
      List<Plane> shape = planes.stream().map(PlaneShape::plane).toList();
      BlockLayout layout = new BlockLayout(layers, tokens, oneOf(TokenOrder.class, "order", order), shape);
      CacheSpace theirs = new CacheSpace(model, layout, group, mine.tenantSalt());
      String field = mine.difference(theirs).orElse(null);
      if (field == null && !spaceId().equals(mine.id())) {
        return "tenantSalt: values differ";
      }
      return field;
    }

    SpaceId spaceId() {
      return SpaceId.read(ByteBuffer.wrap(id));
    }
  }

  record PlaneShape(String kind, String type, int heads, int width) {
    static PlaneShape of(Plane plane) {
      return new PlaneShape(plane.kind().name(), plane.type().name(), plane.heads(), plane.width());
    }

    Plane plane() {
      return new Plane(oneOf(PlaneKind.class, "plane.kind", kind), oneOf(ElementType.class, "plane.type", type), heads, width);
    }
  }

  record Hello(List<Integer> versions, @Nullable Space space, String client) {
    Hello {
      versions = copied("versions", versions);
    }
  }

  /// The server's side of the handshake: the version chosen, what it is, what it holds, what it allows.
  record Welcome(int version, String server, String node, String tier, Space space, int maxSliceBytes, int windowBlocks, int maxKeys,
      @Nullable Long capacityBlocks) {
    Welcome {
      present("welcome.server", server);
      present("welcome.node", node);
      present("welcome.tier", tier);
      present("welcome.space", space);
      try {
        new Limits(maxSliceBytes, windowBlocks, maxKeys);
      } catch (IllegalArgumentException e) {
        throw WireFormatException.request("welcome", "within the limits of the protocol", String.valueOf(e.getMessage()));
      }
    }
  }

  /// Keys of one space, in order.
  record Keys(byte[] space, byte[] hashes) {
    Keys {
      exactly("keys.space", space, SpaceId.BYTES);
      if (present("keys.hashes", hashes).length % BlockHash.BYTES != 0) {
        throw WireFormatException.request("keys.hashes", "a multiple of " + BlockHash.BYTES + " bytes", hashes.length);
      }
    }

    static Keys of(List<BlockKey> keys) {
      return of(keys.getFirst().space(), keys);
    }

    /// @param keys all of `space`
    static Keys of(SpaceId space, List<BlockKey> keys) {
      ByteBuffer hashes = ByteBuffer.allocate(keys.size() * BlockHash.BYTES);
      keys.forEach(key -> key.hash().write(hashes));
      return new Keys(bytes(space), hashes.array());
    }

    /// @throws WireFormatException if the space differs, or there are more than `maxKeys`
    List<BlockKey> in(SpaceId expected, int maxKeys) {
      SpaceId named = SpaceId.read(ByteBuffer.wrap(space));
      if (!named.equals(expected)) {
        throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "keys.space", "" + expected, named);
      }
      int count = hashes.length / BlockHash.BYTES;
      if (count > maxKeys) {
        throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "keys", "<= " + maxKeys, count);
      }
      ByteBuffer from = ByteBuffer.wrap(hashes);
      List<BlockKey> keys = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        keys.add(new BlockKey(expected, BlockHash.read(from)));
      }
      return keys;
    }
  }

  record KeysRequest(Keys keys) {
    KeysRequest {
      present("keys", keys);
    }
  }

  record MatchReply(int prefix) {
    /// @throws WireFormatException if it is no prefix of `keys` keys
    int of(int keys) {
      if (prefix < 0 || prefix > keys) {
        throw WireFormatException.request("prefix", "in [0, " + keys + "]", prefix);
      }
      return prefix;
    }
  }

  /// One bit a key, bit `i & 7` of byte `i >> 3`.
  record Bits(int size, byte[] bits) {
    Bits {
      int length = BitSet.valueOf(present("bits", bits)).length();
      if (size < 0 || length > size) {
        throw WireFormatException.request("bits.size", ">= " + length + ", the last bit set", size);
      }
    }

    static Bits of(Presence presence) {
      return new Bits(presence.size(), presence.bits().toByteArray());
    }

    Presence presence() {
      return Presence.of(size, BitSet.valueOf(bits));
    }

    /// @throws WireFormatException if these are not bits for `keys` keys
    Presence of(int keys) {
      requireOf("bits", keys);
      return presence();
    }

    private void requireOf(String field, int keys) {
      if (size != keys) {
        throw WireFormatException.request(field + ".size", "" + keys, size);
      }
    }
  }

  record GetRequest(Keys keys, String onMiss, String order, int startLayer, int maxSliceBytes, int windowBlocks, long ticket) {
    GetRequest {
      present("keys", keys);
      requireTicket(ticket);
    }

    OnMiss miss() {
      return oneOf(OnMiss.class, "onMiss", onMiss);
    }

    SliceOrder sliceOrder() {
      return oneOf(SliceOrder.class, "order", order);
    }
  }

  /// First payload of a `get` response.
  record Found(Bits hits, Bits found, Bits admitted, Bits awaited) {
    Found {
      present("hits", hits);
      present("found", found);
      present("admitted", admitted);
      present("awaited", awaited);
    }

    /// @throws WireFormatException if this is no decision on `keys` keys
    void requireOf(int keys) {
      hits.requireOf("hits", keys);
      found.requireOf("found", keys);
      admitted.requireOf("admitted", keys);
      awaited.requireOf("awaited", keys);
    }

    /// Positions of the keys whose blocks may come.
    BitSet coming() {
      BitSet coming = found.presence().bits();
      coming.or(admitted.presence().bits());
      coming.or(awaited.presence().bits());
      return coming;
    }
  }

  /// First payload of a `put` channel.
  record PutRequest(Keys keys, int maxSliceBytes, int windowBlocks, long ticket) {
    PutRequest {
      present("keys", keys);
      requireTicket(ticket);
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
  record Room(int window, int first, Bits wanted) {
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

  /// Nothing needs to be said.
  record StatRequest() {}

  record DrainRequest(long ticket) {}

  record DrainReply(boolean drained) {}

  record EventsRequest(long after) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Event(long sequence, String type, byte @Nullable [] key, @Nullable String reason, @Nullable Long count) {
    Event {
      present("event.type", type);
    }

    static Event of(TierEvent event) {
      return switch (event) {
        case TierEvent.Stored e -> new Event(e.sequence(), "stored", canonical(e.key()), null, null);
        case TierEvent.Evicted e -> new Event(e.sequence(), "evicted", canonical(e.key()), null, null);
        case TierEvent.Removed e -> new Event(e.sequence(), "removed", canonical(e.key()), null, null);
        case TierEvent.Lost e -> new Event(e.sequence(), "lost", canonical(e.key()), e.reason(), null);
        case TierEvent.Skipped e -> new Event(e.sequence(), "skipped", null, null, e.count());
      };
    }

    TierEvent event() {
      return switch (type) {
        case "stored" -> new TierEvent.Stored(sequence, blockKey());
        case "evicted" -> new TierEvent.Evicted(sequence, blockKey());
        case "removed" -> new TierEvent.Removed(sequence, blockKey());
        case "lost" -> new TierEvent.Lost(sequence, blockKey(), reason == null ? "" : reason);
        case "skipped" -> new TierEvent.Skipped(sequence, count == null ? 0 : count);
        default -> throw WireFormatException.request("event.type", "stored, evicted, removed, lost or skipped", type);
      };
    }

    private BlockKey blockKey() {
      return BlockKey.read(ByteBuffer.wrap(exactly("event.key", key, BlockKey.BYTES)));
    }
  }

  private static byte[] canonical(BlockKey key) {
    ByteBuffer bytes = ByteBuffer.allocate(BlockKey.BYTES);
    key.write(bytes);
    return bytes.array();
  }

  private static byte[] bytes(SpaceId space) {
    ByteBuffer bytes = ByteBuffer.allocate(SpaceId.BYTES);
    space.write(bytes);
    return bytes.array();
  }

  private static void requireTicket(long ticket) {
    if (ticket < 0) {
      throw WireFormatException.request("ticket", ">= 0", ticket);
    }
  }

  private static <T> T present(String field, @Nullable T value) {
    if (value == null) {
      throw WireFormatException.request(field, "present", "absent");
    }
    return value;
  }

  private static <T> List<T> copied(String field, @Nullable List<T> list) {
    List<T> copy = new ArrayList<>();
    for (T element : present(field, list)) {
      copy.add(present(field + "[" + copy.size() + "]", element));
    }
    return copy;
  }

  private static byte[] exactly(String field, byte @Nullable [] bytes, int length) {
    if (bytes == null || bytes.length != length) {
      throw WireFormatException.request(field, length + " bytes", bytes == null ? "absent" : bytes.length);
    }
    return bytes;
  }

  private static <E extends Enum<E>> E oneOf(Class<E> type, String field, String name) {
    for (E constant : type.getEnumConstants()) {
      if (constant.name().equals(name)) {
        return constant;
      }
    }
    throw WireFormatException.request(field, "one of " + List.of(type.getEnumConstants()), name);
  }
}
