package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// The messages of gets and look-ups in CBOR, without reflection: they come with each request.
///
/// What is written is what the general codec writes. What is read is what it wrote; any other form of a message is left
/// to the general codec, which also says what is wrong.
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
    Cbor.Writer out = new Cbor.Writer(message instanceof Messages.KeysRequest asked
        ? asked.keys().hashes().length
        : message instanceof Messages.GetRequest get ? get.keys().hashes().length : 0);
    switch (message) {
      case Messages.KeysRequest request when request.lease() == null -> keysRequest(out, request);
      case Messages.GetRequest request when request.lease() == null && request.view() == null ->
        getRequest(out, request);
      case Messages.Found found -> found(out, found);
      case Messages.Bits bits -> bits(out, bits);
      default -> {
        return null;
      }
    }
    return out.written(allocator);
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
    return in.end().isWhole()
        ? new Messages.GetRequest(new Messages.Keys(space, hashes), onMiss, order, startLayer, maxSliceBytes,
            windowBlocks, ticket, null, proof)
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
