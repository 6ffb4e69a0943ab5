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
final class Messages {
  private Messages() {}

  /// What a peer holds; the salt itself never travels, its effect is in `id`.
  record Space(byte[] id, String model, int layers, int tokens, String order, List<PlaneShape> planes, int group) {
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
      if (field == null && !SpaceId.read(ByteBuffer.wrap(exactly("space.id", id, SpaceId.BYTES))).equals(mine.id())) {
        return "tenantSalt: values differ";
      }
      return field;
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

  record Hello(List<Integer> versions, @Nullable Space space, String client) {}

  /// The server's side of the handshake: the version chosen, what it is, what it holds, what it allows.
  record Welcome(int version, String server, String node, String tier, Space space, int maxSliceBytes, int windowBlocks, int maxKeys) {}

  /// Keys of one space, in order.
  record Keys(byte[] space, byte[] hashes) {
    static Keys of(List<BlockKey> keys) {
      ByteBuffer hashes = ByteBuffer.allocate(keys.size() * BlockHash.BYTES);
      keys.forEach(key -> key.hash().write(hashes));
      return new Keys(keys.isEmpty() ? new byte[SpaceId.BYTES] : bytes(keys.getFirst().space()), hashes.array());
    }

    /// @throws WireFormatException if the space differs, a length is wrong, or there are more than `maxKeys`
    List<BlockKey> in(SpaceId expected, int maxKeys) {
      SpaceId named = SpaceId.read(ByteBuffer.wrap(exactly("keys.space", space, SpaceId.BYTES)));
      if (!named.equals(expected)) {
        throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "keys.space", "" + expected, named);
      }
      if (hashes.length % BlockHash.BYTES != 0) {
        throw WireFormatException.request("keys.hashes", "a multiple of " + BlockHash.BYTES + " bytes", hashes.length);
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

  record KeysRequest(Keys keys) {}

  record MatchReply(int prefix) {}

  /// One bit a key, bit `i & 7` of byte `i >> 3`.
  record Bits(int size, byte[] bits) {
    static Bits of(Presence presence) {
      return new Bits(presence.size(), presence.bits().toByteArray());
    }

    Presence presence() {
      return Presence.of(size, BitSet.valueOf(bits));
    }
  }

  record GetRequest(Keys keys, String onMiss, String order, int startLayer, int maxSliceBytes, int windowBlocks, long ticket) {
    OnMiss miss() {
      return oneOf(OnMiss.class, "onMiss", onMiss);
    }

    SliceOrder sliceOrder() {
      return oneOf(SliceOrder.class, "order", order);
    }
  }

  /// First payload of a `get` response.
  record Found(Bits hits, Bits found, Bits admitted, Bits awaited) {}

  /// First payload of a `put` channel.
  record PutRequest(Keys keys, int maxSliceBytes, int windowBlocks, long ticket) {}

  /// A payload of a `put` response: there is room for a window, or blocks were stored; exactly one of the two.
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record PutSignal(@Nullable Room room, @Nullable List<Stored> stored) {}

  /// Room for the keys `first … first + wanted.size`, of which the set bits are wanted.
  record Room(int window, int first, Bits wanted) {}

  record Stored(int position, String tier, String durability, long sequence) {
    static Stored of(int position, Receipt receipt) {
      return new Stored(position, receipt.tier(), receipt.durability().name(), receipt.sequence());
    }

    Receipt receipt(BlockKey key) {
      return new Receipt(key, tier, oneOf(Durability.class, "durability", durability), sequence);
    }
  }

  record DrainRequest(long ticket) {}

  record DrainReply(boolean drained) {}

  record EventsRequest(long after) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Event(long sequence, String type, byte @Nullable [] key, @Nullable String reason, @Nullable Long count) {
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
      return BlockKey.read(ByteBuffer.wrap(exactly("event.key", key == null ? new byte[0] : key, BlockKey.BYTES)));
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

  private static byte[] exactly(String field, byte[] bytes, int length) {
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
