package io.penstock.wire.protocol;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/// Checks the structure of a control message in CBOR (RFC 8949) in one pass, without an object for a value: one item of
/// bounded nesting, whose lengths fit the bytes that are there, without tags. What passes costs its reader linear time.
final class CborStructure {
  /// Maximum number of lists and maps within each other, with the message itself. A message of version 1 has six; a
  /// newer peer may send more.
  static final int DEEPEST = 32;

  private static final int UNSIGNED = 0;
  private static final int NEGATIVE = 1;
  private static final int BYTES = 2;
  private static final int TEXT = 3;
  private static final int LIST = 4;
  private static final int MAP = 5;
  private static final int TAG = 6;
  private static final int INFORMATION_BITS = 5;
  private static final int INFORMATION = 0x1F;
  /// Additional information that announces a value in the next 1, 2, 4 or 8 bytes.
  private static final int IN_1 = 24;
  private static final int IN_8 = 27;
  private static final int OPEN = 31;
  private static final int END = 0xFF;
  private static final long NOT_COUNTED = -1;

  private final ByteBuffer in;
  private final int mostItems;
  private int items;
  /// Items that each open list or map still has, the innermost last.
  private final long[] left = new long[DEEPEST];
  private int depth;

  private CborStructure(byte[] message, int mostItems) {
    this.in = ByteBuffer.wrap(message);
    this.mostItems = mostItems;
  }

  /// @param mostItems maximum number of values, names, lists and maps
  /// @throws WireFormatException if `message` is another structure
  static void require(byte[] message, int mostItems) {
    CborStructure structure = new CborStructure(message, mostItems);
    try {
      do {
        structure.item();
      } while (structure.depth > 0);
    } catch (BufferUnderflowException e) {
      throw unreadable("fewer");
    }
    if (structure.in.hasRemaining()) {
      throw unreadable("more");
    }
  }

  private static WireFormatException unreadable(String bytes) {
    return refused("one whole item of CBOR", bytes + " bytes than its lengths say");
  }

  private static WireFormatException refused(String rule, String was) {
    return WireFormatException.request("message", rule, was);
  }

  /// Reads one item, or the head of a list or map, or the end of one.
  private void item() {
    int at = in.position();
    int first = in.get() & 0xFF;
    int kind = first >> INFORMATION_BITS;
    int information = first & INFORMATION;
    if (first == END) {
      end();
      return;
    }
    if (++items > mostItems) {
      throw refused("of at most " + mostItems + " items", "of more");
    }
    switch (kind) {
      case UNSIGNED, NEGATIVE -> argument(information);
      case BYTES, TEXT -> string(kind, information);
      case LIST, MAP -> {
        begin(kind, information);
        return;
      }
      case TAG -> throw refused("CBOR without tags", "a tag at byte " + at);
      default -> argument(information); // simple values and floating-point numbers
    }
    ended();
  }

  private void begin(int kind, int information) {
    if (depth == DEEPEST) {
      throw refused("nested at most " + DEEPEST + " deep", "deeper");
    }
    long count = information == OPEN ? NOT_COUNTED : argument(information);
    if (count != NOT_COUNTED) {
      requireRoom(count);
      count *= kind == MAP ? 2 : 1;
    }
    left[depth++] = count;
    if (count == 0) {
      depth--;
      ended();
    }
  }

  /// An item has ended, and with it the lists and maps of which it was the last.
  private void ended() {
    while (depth > 0 && left[depth - 1] != NOT_COUNTED && --left[depth - 1] == 0) {
      depth--;
    }
  }

  private void end() {
    if (depth == 0 || left[depth - 1] != NOT_COUNTED) {
      throw refused("one whole item of CBOR", "an end of what has not begun");
    }
    depth--;
    ended();
  }

  private void string(int kind, int information) {
    if (information != OPEN) {
      skip(argument(information));
      return;
    }
    for (int chunk = in.get() & 0xFF; chunk != END; chunk = in.get() & 0xFF) {
      if (chunk >> INFORMATION_BITS != kind || (chunk & INFORMATION) == OPEN) {
        throw refused("one whole item of CBOR", "a string with a part of another type");
      }
      skip(argument(chunk & INFORMATION));
    }
  }

  private void skip(long bytes) {
    requireRoom(bytes);
    in.position(in.position() + (int) bytes);
  }

  /// An item has a byte at least.
  private void requireRoom(long items) {
    if (items < 0 || items > in.remaining()) {
      throw unreadable("fewer");
    }
  }

  /// The value of a head; negative from 2⁶³ on.
  private long argument(int information) {
    if (information > IN_8) {
      throw refused("one whole item of CBOR", "a head that has no meaning");
    }
    return switch (information - IN_1) {
      case 0 -> in.get() & 0xFF;
      case 1 -> in.getShort() & 0xFFFF;
      case 2 -> in.getInt() & 0xFFFF_FFFFL;
      case 3 -> in.getLong();
      default -> information;
    };
  }
}
