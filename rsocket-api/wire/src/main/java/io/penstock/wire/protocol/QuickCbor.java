package io.penstock.wire.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The messages of gets, puts and look-ups in CBOR, without reflection: they come with each request.
///
/// It writes the bytes that the general codec writes, and reads those; it leaves any other form of a message to the
/// general codec, which also reports errors.
final class QuickCbor {
  private static final byte[] KEYS = name("keys");
  private static final byte[] SPACE = name("space");
  private static final byte[] HASHES = name("hashes");
  private static final byte[] SIZE = name("size");
  private static final byte[] BITS = name("bits");
  private static final byte[] HITS = name("hits");
  private static final byte[] FOUND = name("found");
  private static final byte[] ADMITTED = name("admitted");
  private static final byte[] AWAITED = name("awaited");
  private static final byte[] ON_MISS = name("onMiss");
  private static final byte[] ORDER = name("order");
  private static final byte[] START_LAYER = name("startLayer");
  private static final byte[] MAX_SLICE_BYTES = name("maxSliceBytes");
  private static final byte[] WINDOW_BLOCKS = name("windowBlocks");
  private static final byte[] TICKET = name("ticket");
  private static final byte[] PROOF = name("proof");
  private static final byte[] VERIFIES = name("verifies");
  private static final byte[] OUTCOMES = name("outcomes");
  private static final byte[] ROOM = name("room");
  private static final byte[] WINDOW = name("window");
  private static final byte[] FIRST = name("first");
  private static final byte[] WANTED = name("wanted");
  private static final byte[] PRESENT = name("present");
  private static final byte[] STORED = name("stored");
  private static final byte[] POSITION = name("position");
  private static final byte[] TIER = name("tier");
  private static final byte[] DURABILITY = name("durability");
  private static final byte[] SEQUENCE = name("sequence");
  private static final byte[] LANDED = name("landed");

  /// Bytes of a block that was stored, with a short name of its tier.
  private static final int STORED_BYTES = 80;

  private QuickCbor() {}

  private static byte[] name(String name) {
    byte[] text = name.getBytes(StandardCharsets.US_ASCII);
    byte[] named = new byte[text.length + 1];
    named[0] = (byte) (Cbor.TEXT | text.length);
    System.arraycopy(text, 0, named, 1, text.length);
    return named;
  }

  /// The bytes of `message`; null if it is none of these messages.
  static @Nullable ByteBuf write(Object message, ByteBufAllocator allocator) {
    Cbor.Writer out = new Cbor.Writer(longPart(message));
    switch (message) {
      case Messages.KeysRequest request when request.lease() == null && request.durability() == null
          && request.session() == null && request.pendingMillis() == null ->
        keysRequest(out, request);
      case Messages.GetRequest request when request.lease() == null && request.view() == null
          && request.request() == null && request.session() == null && !Boolean.FALSE.equals(request.verifies()) ->
        getRequest(out, request);
      case Messages.Found found -> found(out, found);
      case Messages.Bits bits -> bits(out, bits);
      case PutMessages.PutRequest request when isPlain(request) -> putRequest(out, request);
      case PutMessages.PutSignal signal when isPlain(signal) -> putSignal(out, signal);
      default -> {
        return null;
      }
    }
    return out.written(allocator);
  }

  /// Bytes of the part of `message` whose length is not bounded, as far as they are known.
  private static int longPart(Object message) {
    return switch (message) {
      case Messages.KeysRequest request -> request.keys().hashes().length;
      case Messages.GetRequest request -> request.keys().hashes().length;
      case PutMessages.PutRequest request -> request.keys().hashes().length;
      case PutMessages.PutSignal signal when signal.stored() != null -> STORED_BYTES * signal.stored().size();
      default -> 0;
    };
  }

  private static void keysRequest(Cbor.Writer out, Messages.KeysRequest request) {
    out.begin();
    keys(out, request.keys());
    out.end();
  }

  private static void keys(Cbor.Writer out, Messages.Keys keys) {
    out.raw(KEYS).begin();
    out.raw(SPACE).bytes(keys.space());
    out.raw(HASHES).bytes(keys.hashes());
    out.end();
  }

  private static void getRequest(Cbor.Writer out, Messages.GetRequest request) {
    out.begin();
    keys(out, request.keys());
    out.raw(ON_MISS).text(request.onMiss());
    out.raw(ORDER).text(request.order());
    out.raw(START_LAYER).integer(request.startLayer());
    out.raw(MAX_SLICE_BYTES).integer(request.maxSliceBytes());
    out.raw(WINDOW_BLOCKS).integer(request.windowBlocks());
    out.raw(TICKET).integer(request.ticket());
    if (request.proof() != null) {
      out.raw(PROOF).bytes(request.proof());
    }
    if (request.isVerified()) {
      out.raw(VERIFIES).yes();
    }
    out.end();
  }

  private static void found(Cbor.Writer out, Messages.Found found) {
    out.begin();
    bits(out.raw(HITS), found.hits());
    bits(out.raw(FOUND), found.found());
    bits(out.raw(ADMITTED), found.admitted());
    bits(out.raw(AWAITED), found.awaited());
    out.end();
  }

  private static boolean isPlain(PutMessages.PutRequest request) {
    return request.pin() == null && request.group() == null && request.upsert() == null && request.wantsOutcomes()
        && request.tokens() == null && request.session() == null;
  }

  private static void putRequest(Cbor.Writer out, PutMessages.PutRequest request) {
    out.begin();
    keys(out, request.keys());
    out.raw(MAX_SLICE_BYTES).integer(request.maxSliceBytes());
    out.raw(WINDOW_BLOCKS).integer(request.windowBlocks());
    out.raw(TICKET).integer(request.ticket());
    out.raw(OUTCOMES).yes();
    out.end();
  }

  private static boolean isPlain(PutMessages.PutSignal signal) {
    PutMessages.Room room = signal.room();
    List<PutMessages.Stored> stored = signal.stored();
    return signal.failed() == null && (room == null || room.first() >= 0) && (stored == null || arePlain(stored));
  }

  private static boolean arePlain(List<PutMessages.Stored> all) {
    String tier = "";
    String durability = "";
    for (PutMessages.Stored stored : all) {
      if (stored.position() < 0 || stored.sequence() < 0
          || !isPlain(stored.tier(), tier) || !isPlain(stored.durability(), durability)) {
        return false;
      }
      tier = stored.tier();
      durability = stored.durability();
    }
    return true;
  }

  /// Whether `text` is ASCII.
  ///
  /// @param known such a text
  private static boolean isPlain(String text, String known) {
    return text.equals(known) || text.chars().allMatch(one -> one < 0x80);
  }

  private static void putSignal(Cbor.Writer out, PutMessages.PutSignal signal) {
    out.begin();
    if (signal.room() != null) {
      room(out.raw(ROOM), signal.room());
    }
    if (signal.stored() != null) {
      out.raw(STORED).list(signal.stored().size());
      signal.stored().forEach(stored -> stored(out, stored));
    }
    if (signal.landed() != null) {
      out.raw(LANDED).integer(signal.landed());
    }
    out.end();
  }

  private static void room(Cbor.Writer out, PutMessages.Room room) {
    out.begin();
    out.raw(WINDOW).integer(room.window());
    out.raw(FIRST).integer(room.first());
    bits(out.raw(WANTED), room.wanted());
    if (room.present() != null) {
      bits(out.raw(PRESENT), room.present());
    }
    out.end();
  }

  private static void stored(Cbor.Writer out, PutMessages.Stored stored) {
    out.begin();
    out.raw(POSITION).integer(stored.position());
    out.raw(TIER).text(stored.tier());
    out.raw(DURABILITY).text(stored.durability());
    out.raw(SEQUENCE).integer(stored.sequence());
    out.end();
  }

  private static void bits(Cbor.Writer out, Messages.Bits bits) {
    out.begin();
    out.raw(SIZE).integer(bits.size());
    out.raw(BITS).bytes(bits.bits());
    out.end();
  }

  /// Reads a message; null if it is another one, or of another form. `bytes` stays the caller's.
  static <T> @Nullable T read(ByteBuf bytes, Class<T> type) {
    Object message = null;
    if (type == Messages.KeysRequest.class) {
      message = keysRequest(new Cbor.Reader(bytes));
    } else if (type == Messages.GetRequest.class) {
      message = getRequest(new Cbor.Reader(bytes));
    } else if (type == Messages.Found.class) {
      message = found(new Cbor.Reader(bytes));
    } else if (type == Messages.Bits.class) {
      message = bits(new Cbor.Reader(bytes));
    } else if (type == PutMessages.PutRequest.class) {
      message = putRequest(new Cbor.Reader(bytes));
    } else if (type == PutMessages.PutSignal.class) {
      message = putSignal(new Cbor.Reader(bytes));
    }
    return message == null ? null : type.cast(message);
  }

  private static Messages.@Nullable KeysRequest keysRequest(Cbor.Reader in) {
    byte[] space = space(in.begin());
    byte[] hashes = hashes(in);
    return in.end().isWhole() ? new Messages.KeysRequest(new Messages.Keys(space, hashes)) : null;
  }

  private static byte[] space(Cbor.Reader in) {
    return in.raw(KEYS).begin().raw(SPACE).bytes();
  }

  private static byte[] hashes(Cbor.Reader in) {
    byte[] hashes = in.raw(HASHES).bytes();
    in.end();
    return hashes;
  }

  private static Messages.@Nullable GetRequest getRequest(Cbor.Reader in) {
    byte[] space = space(in.begin());
    byte[] hashes = hashes(in);
    String onMiss = in.raw(ON_MISS).text();
    String order = in.raw(ORDER).text();
    int startLayer = in.raw(START_LAYER).int32();
    int maxSliceBytes = in.raw(MAX_SLICE_BYTES).int32();
    int windowBlocks = in.raw(WINDOW_BLOCKS).int32();
    long ticket = in.raw(TICKET).int64();
    byte[] proof = in.has(PROOF) ? in.raw(PROOF).bytes() : null;
    Boolean verifies = in.has(VERIFIES) ? Boolean.TRUE : null;
    if (verifies != null) {
      in.raw(VERIFIES).yes();
    }
    return in.end().isWhole()
        ? new Messages.GetRequest(new Messages.Keys(space, hashes), onMiss, order, startLayer, maxSliceBytes,
            windowBlocks, ticket, null, proof, verifies)
        : null;
  }

  private static Messages.@Nullable Found found(Cbor.Reader in) {
    Part hits = part(in.begin().raw(HITS));
    Part found = part(in.raw(FOUND));
    Part admitted = part(in.raw(ADMITTED));
    Part awaited = part(in.raw(AWAITED));
    return in.end().isWhole()
        ? new Messages.Found(hits.checked(), found.checked(), admitted.checked(), awaited.checked())
        : null;
  }

  private static PutMessages.@Nullable PutRequest putRequest(Cbor.Reader in) {
    byte[] space = space(in.begin());
    byte[] hashes = hashes(in);
    int maxSliceBytes = in.raw(MAX_SLICE_BYTES).int32();
    int windowBlocks = in.raw(WINDOW_BLOCKS).int32();
    long ticket = in.raw(TICKET).int64();
    return in.raw(OUTCOMES).yes().end().isWhole()
        ? new PutMessages.PutRequest(new Messages.Keys(space, hashes), maxSliceBytes, windowBlocks, ticket, null, null,
            null, true)
        : null;
  }

  private static PutMessages.@Nullable PutSignal putSignal(Cbor.Reader in) {
    return in.begin().has(ROOM) ? room(in.raw(ROOM)) : stored(in);
  }

  private static PutMessages.@Nullable PutSignal room(Cbor.Reader in) {
    int window = in.begin().raw(WINDOW).int32();
    int first = in.raw(FIRST).int32();
    Part wanted = part(in.raw(WANTED));
    Part present = in.has(PRESENT) ? part(in.raw(PRESENT)) : null;
    return in.end().end().isWhole()
        ? new PutMessages.PutSignal(new PutMessages.Room(window, first, wanted.checked(),
            present == null ? null : present.checked()), null)
        : null;
  }

  private static PutMessages.@Nullable PutSignal stored(Cbor.Reader in) {
    int size = in.raw(STORED).list();
    List<PutMessages.Stored> stored = new ArrayList<>(size);
    String tier = "";
    String durability = "";
    for (int i = 0; i < size; i++) {
      int position = in.begin().raw(POSITION).int32();
      tier = in.raw(TIER).text(tier);
      durability = in.raw(DURABILITY).text(durability);
      stored.add(new PutMessages.Stored(position, tier, durability, in.raw(SEQUENCE).int64()));
      in.end();
    }
    Integer landed = in.has(LANDED) ? in.raw(LANDED).int32() : null;
    return in.end().isWhole() ? new PutMessages.PutSignal(null, stored, null, landed) : null;
  }

  private static Messages.@Nullable Bits bits(Cbor.Reader in) {
    Part bits = part(in);
    return in.isWhole() ? bits.checked() : null;
  }

  /// Bits that were read and not checked.
  private record Part(int size, byte[] bits) {
    Messages.Bits checked() {
      return new Messages.Bits(size, bits);
    }
  }

  private static Part part(Cbor.Reader in) {
    int size = in.begin().raw(SIZE).int32();
    byte[] bits = in.raw(BITS).bytes();
    in.end();
    return new Part(size, bits);
  }
}
