package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/// The parts of CBOR (RFC 8949) that control messages are made of: maps without a stated length, integers from 0 on,
/// byte strings and texts in ASCII.
final class Cbor {
  static final int TEXT = 0x60;
  private static final int INTEGER = 0x00;
  private static final int BYTES = 0x40;
  private static final int MAP = 0xBF;
  private static final int END = 0xFF;
  private static final int KIND_MASK = 0xE0;
  private static final int SHORT_MASK = 0x1F;
  /// What says that the value is in the next 1, 2, 4 or 8 bytes.
  private static final int IN_1 = 24;
  private static final int IN_2 = 25;
  private static final int IN_4 = 26;
  private static final int IN_8 = 27;

  private Cbor() {}

  /// Writes to a buffer.
  record Writer(ByteBuf to) {
    void begin() {
      to.writeByte(MAP);
    }

    void end() {
      to.writeByte(END);
    }

    /// Bytes that are encoded already.
    Writer raw(byte[] encoded) {
      to.writeBytes(encoded);
      return this;
    }

    void bytes(byte[] value) {
      head(BYTES, value.length);
      to.writeBytes(value);
    }

    /// @param ascii text
    void text(String ascii) {
      head(TEXT, ascii.length());
      to.writeCharSequence(ascii, StandardCharsets.US_ASCII);
    }

    /// @param value from 0 on
    void integer(long value) {
      head(INTEGER, value);
    }

    private void head(int kind, long value) {
      if (value < IN_1) {
        to.writeByte(kind | (int) value);
      } else if (value <= 0xFF) {
        to.writeByte(kind | IN_1).writeByte((int) value);
      } else if (value <= 0xFFFF) {
        to.writeByte(kind | IN_2).writeShort((int) value);
      } else if (value <= 0xFFFF_FFFFL) {
        to.writeByte(kind | IN_4).writeInt((int) value);
      } else {
        to.writeByte(kind | IN_8).writeLong(value);
      }
    }
  }

  /// Reads what a caller expects. If something else comes, [#isWhole] is false in the end, and what was read is of no
  /// meaning.
  static final class Reader {
    private static final byte[] NONE = {};

    private final ByteBuf in;
    private final int end;
    private int at;
    private boolean failed;

    /// @param in stays the caller's, its indices too
    Reader(ByteBuf in) {
      this.in = in;
      this.at = in.readerIndex();
      this.end = in.writerIndex();
    }

    /// True if all that was expected came, and nothing else.
    boolean isWhole() {
      return !failed && at == end;
    }

    Reader begin() {
      return expect(MAP);
    }

    Reader end() {
      return expect(END);
    }

    private Reader expect(int wanted) {
      failed |= next() != wanted;
      return this;
    }

    Reader raw(byte[] encoded) {
      for (byte wanted : encoded) {
        expect(wanted & 0xFF);
      }
      return this;
    }

    byte[] bytes() {
      return string(BYTES);
    }

    String text() {
      byte[] ascii = string(TEXT);
      for (byte one : ascii) {
        failed |= one < 0;
      }
      return new String(ascii, StandardCharsets.US_ASCII);
    }

    int int32() {
      long value = head(INTEGER);
      failed |= value > Integer.MAX_VALUE;
      return (int) value;
    }

    long int64() {
      return head(INTEGER);
    }

    private byte[] string(int kind) {
      long length = head(kind);
      if (length > end - at) {
        failed = true;
        return NONE;
      }
      byte[] value = new byte[(int) length];
      in.getBytes(at, value);
      at += value.length;
      return value;
    }

    /// A value from 0 on.
    private long head(int kind) {
      int first = next();
      failed |= (first & KIND_MASK) != kind;
      int value = first & SHORT_MASK;
      if (value < IN_1) {
        return value;
      }
      return switch (value) {
        case IN_1 -> next();
        case IN_2 -> (long) next() << 8 | next();
        case IN_4 -> four();
        case IN_8 -> notNegative(four() << 32 | four());
        default -> notNegative(-1);
      };
    }

    private long four() {
      long value = 0;
      for (int i = 0; i < Integer.BYTES; i++) {
        value = value << 8 | next();
      }
      return value;
    }

    private long notNegative(long value) {
      failed |= value < 0;
      return Math.max(0, value);
    }

    private int next() {
      if (at >= end) {
        failed = true;
        return 0;
      }
      return in.getUnsignedByte(at++);
    }
  }
}
