package io.penstock.recording;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.recording.RecordedEvent.Kind;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// The bytes of an event: kind, flags, time (8 bytes, if a turn begins), tier, flow, numbers, space and hashes of its
/// keys, text, and the bytes of a payload that was kept. Numbers are in groups of seven bits, the lowest first, with
/// their sign in the lowest bit.
public final class EventCodec {
  private static final Kind[] KINDS = Kind.values();
  private static final int BEGINS = 1;
  private static final int HAS_KEYS = 2;
  private static final int HAS_TEXT = 4;
  private static final int HAS_BYTES = 8;
  private static final int FLAGS_AT = 1;
  /// Bytes of the longest number.
  private static final int MOST_NUMBER = 10;

  /// Most bytes that an event of kind `PAYLOAD` takes, without those of its block.
  public static final int MOST_PAYLOAD_HEAD = 2 + 9 * MOST_NUMBER + SpaceId.BYTES + BlockHash.BYTES;
  /// Place of the number of bytes in an event of kind `PAYLOAD`.
  private static final int PAYLOAD_BYTES = 2;
  private static final int PAYLOAD_NUMBERS = 4;

  private EventCodec() {}

  /// Most bytes that `event` takes.
  public static int mostBytes(RecordedEvent event) {
    return 2 + Long.BYTES + (5 + event.size()) * MOST_NUMBER + SpaceId.BYTES + event.keys().size() * BlockHash.BYTES
        + 3 * event.text().length();
  }

  /// Writes `event` at the position of `to`, which moves on.
  public static void write(RecordedEvent event, ByteBuffer to) {
    List<BlockKey> keys = event.keys();
    String text = event.text();
    to.put((byte) event.kind().ordinal());
    to.put((byte) ((event.begins() ? BEGINS : 0) | (keys.isEmpty() ? 0 : HAS_KEYS) | (text.isEmpty() ? 0 : HAS_TEXT)));
    if (event.begins()) {
      to.putLong(event.at());
    }
    number(event.tier(), to);
    number(event.flow(), to);
    number(event.size(), to);
    for (int i = 0; i < event.size(); i++) {
      number(event.number(i), to);
    }
    if (!keys.isEmpty()) {
      number(keys.size(), to);
      keys.getFirst().space().write(to);
      keys.forEach(key -> key.hash().write(to));
    }
    if (!text.isEmpty()) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      number(bytes.length, to);
      to.put(bytes);
    }
  }

  /// Writes the event of a payload at the position of `to`, which moves on to where its `bytes` belong.
  public static void write(Script.Payload payload, int bytes, ByteBuffer to) {
    to.put((byte) Kind.PAYLOAD.ordinal());
    to.put((byte) (HAS_KEYS | HAS_BYTES));
    number(0, to); // tier
    number(0, to); // flow
    number(PAYLOAD_NUMBERS, to);
    number(payload.checksum(), to);
    number(payload.first(), to);
    number(bytes, to);
    number(payload.stored() ? 1 : 0, to);
    number(1, to);
    payload.key().space().write(to);
    payload.key().hash().write(to);
  }

  /// Number of bytes of a block that follow the event `read`, which began at `start`; they lie before the position
  /// after it.
  public static int bytesOf(RecordedEvent read, ByteBuffer from, int start) {
    return (from.get(start + FLAGS_AT) & HAS_BYTES) == 0 ? 0 : Math.toIntExact(read.number(PAYLOAD_BYTES));
  }

  private static void number(long value, ByteBuffer to) {
    long left = (value << 1) ^ (value >> 63);
    while ((left & ~0x7FL) != 0) {
      to.put((byte) ((left & 0x7F) | 0x80));
      left >>>= 7;
    }
    to.put((byte) left);
  }

  /// Reads an event at the position of `from`, which moves on, also over the bytes of a payload.
  ///
  /// @throws RecordingFormatException if the bytes are no event
  public static RecordedEvent read(ByteBuffer from) {
    try {
      return readWhole(from);
    } catch (BufferUnderflowException e) {
      throw new RecordingFormatException("event", "whole", "cut short");
    }
  }

  private static RecordedEvent readWhole(ByteBuffer from) {
    int kind = from.get() & 0xFF;
    if (kind >= KINDS.length) {
      throw new RecordingFormatException("kind of an event", "< " + KINDS.length, kind);
    }
    int flags = from.get();
    boolean begins = (flags & BEGINS) != 0;
    long at = begins ? from.getLong() : 0;
    int tier = (int) number(from);
    long flow = number(from);
    long[] numbers = new long[count("numbers", from, 1)];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = number(from);
    }
    List<BlockKey> keys = (flags & HAS_KEYS) == 0 ? List.of() : keys(from);
    String text = "";
    if ((flags & HAS_TEXT) != 0) {
      byte[] bytes = new byte[count("text", from, 1)];
      from.get(bytes);
      text = new String(bytes, StandardCharsets.UTF_8);
    }
    if ((flags & HAS_BYTES) != 0) {
      if (KINDS[kind] != Kind.PAYLOAD || numbers.length != PAYLOAD_NUMBERS || keys.size() != 1) {
        throw new RecordingFormatException("event with bytes of a block",
            "a payload of %d numbers and one key".formatted(PAYLOAD_NUMBERS),
            "%s of %d and %d".formatted(KINDS[kind], numbers.length, keys.size()));
      }
      long bytes = numbers[PAYLOAD_BYTES];
      if (bytes < 0 || bytes > from.remaining()) {
        throw new RecordingFormatException("payload", "within the bytes left", bytes);
      }
      from.position(from.position() + (int) bytes);
    }
    return new RecordedEvent(KINDS[kind], begins, at, tier, flow, numbers, keys, text);
  }

  private static List<BlockKey> keys(ByteBuffer from) {
    int count = (int) number(from);
    SpaceId space = SpaceId.read(from);
    if (count < 1 || (long) count * BlockHash.BYTES > from.remaining()) {
      throw new RecordingFormatException("keys", "within the bytes left", count);
    }
    ByteBuffer hashes = from.slice(from.position(), count * BlockHash.BYTES);
    from.position(from.position() + hashes.remaining());
    return List.copyOf(BlockKey.list(space, hashes));
  }

  /// A count of things of at least `each` bytes, which the rest of `from` has room for.
  private static int count(String what, ByteBuffer from, int each) {
    long count = number(from);
    if (count < 0 || count * each > from.remaining()) {
      throw new RecordingFormatException(what, "within the bytes left", count);
    }
    return (int) count;
  }

  private static long number(ByteBuffer from) {
    long value = 0;
    for (int shift = 0; shift < 7 * MOST_NUMBER; shift += 7) {
      long next = from.get();
      value |= (next & 0x7F) << shift;
      if (next >= 0) {
        return (value >>> 1) ^ -(value & 1);
      }
    }
    throw new RecordingFormatException("number", "of at most " + MOST_NUMBER + " bytes", "longer");
  }
}
