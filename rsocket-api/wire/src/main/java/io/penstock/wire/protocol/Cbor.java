package io.penstock.wire.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// The parts of CBOR (RFC 8949) that control messages are made of: maps without a stated length, lists with one,
/// integers from 0 on, `true`, byte strings and texts in ASCII.
final class Cbor {
  static final int TEXT = 0x60;
  private static final int INTEGER = 0x00;
  private static final int BYTES = 0x40;
  private static final int LIST = 0x80;
  private static final int TRUE = 0xF5;
  private static final int MAP = 0xBF;
  private static final int END = 0xFF;
  private static final int KIND_MASK = 0xE0;
  private static final int SHORT_MASK = 0x1F;
  /// Additional information that announces a value in the next 1, 2, 4 or 8 bytes.
  private static final int IN_1 = 24;
  private static final int IN_2 = 25;
  private static final int IN_4 = 26;
  private static final int IN_8 = 27;

  private Cbor() {}

  /// Writes to an array that grows: a buffer would check each byte.
  static final class Writer {
    private static final int LEAST_BYTES = 256;

    private byte[] bytes;
    private int length;

    /// @param more bytes in addition to the shortest room, if the writer knows of any
    Writer(int more) {
      this.bytes = new byte[LEAST_BYTES + more];
    }

    /// The written bytes.
    ByteBuf written(ByteBufAllocator allocator) {
      return allocator.buffer(length).writeBytes(bytes, 0, length);
    }

    void begin() {
      put(MAP);
    }

    void end() {
      put(END);
    }

    /// A list of `size` values follows.
    void list(int size) {
      head(LIST, size);
    }

    void yes() {
      put(TRUE);
    }

    /// Bytes that are encoded already.
    Writer raw(byte[] encoded) {
      reserve(encoded.length);
      System.arraycopy(encoded, 0, bytes, length, encoded.length);
      length += encoded.length;
      return this;
    }

    void bytes(byte[] value) {
      head(BYTES, value.length);
      raw(value);
    }

    /// @param ascii text
    void text(String ascii) {
      head(TEXT, ascii.length());
      raw(ascii.getBytes(StandardCharsets.US_ASCII));
    }

    /// @param value from 0 on
    void integer(long value) {
      head(INTEGER, value);
    }

    private void head(int kind, long value) {
      if (value < IN_1) {
        put(kind | (int) value);
      } else if (value <= 0xFF) {
        value(kind | IN_1, value, 1);
      } else if (value <= 0xFFFF) {
        value(kind | IN_2, value, Short.BYTES);
      } else if (value <= 0xFFFF_FFFFL) {
        value(kind | IN_4, value, Integer.BYTES);
      } else {
        value(kind | IN_8, value, Long.BYTES);
      }
    }

    private void value(int first, long value, int size) {
      put(first);
      for (int shift = Byte.SIZE * (size - 1); shift >= 0; shift -= Byte.SIZE) {
        put((int) (value >>> shift));
      }
    }

    private void put(int one) {
      reserve(1);
      bytes[length++] = (byte) one;
    }

    private void reserve(int more) {
      if (more > bytes.length - length) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
      }
    }
  }

  /// Reads expected values. If another value comes, [#isWhole] is false in the end, and the values read have no
  /// meaning.
  static final class Reader {
    private static final byte[] NONE = {};

    private final byte[] in;
    private int at;
    private boolean failed;

    /// @param message stays the caller's, its indices too
    Reader(ByteBuf message) {
      this.in = ByteBufUtil.getBytes(message);
    }

    /// True if all expected values came, and nothing else.
    boolean isWhole() {
      return !failed && at == in.length;
    }

    Reader begin() {
      return expect(MAP);
    }

    Reader end() {
      return expect(END);
    }

    /// Length of the list that follows; each value takes a byte at least.
    int list() {
      long size = head(LIST);
      failed |= size > in.length - at;
      return failed ? 0 : (int) size;
    }

    Reader yes() {
      return expect(TRUE);
    }

    private Reader expect(int wanted) {
      failed |= next() != wanted;
      return this;
    }

    /// Whether `encoded` comes next; reads nothing.
    boolean has(byte[] encoded) {
      int end = at + encoded.length;
      return end <= in.length && Arrays.equals(in, at, end, encoded, 0, encoded.length);
    }

    Reader raw(byte[] encoded) {
      if (has(encoded)) {
        at += encoded.length;
      } else {
        failed = true;
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

    /// Reads a text, which is usually `known`.
    String text(String known) {
      int from = at;
      long length = head(TEXT);
      int end = at + known.length();
      if (length == known.length() && end <= in.length) {
        int same = 0;
        while (same < length && in[at + same] == known.charAt(same)) {
          same++;
        }
        if (same == length) {
          at = end;
          return known;
        }
      }
      at = from;
      return text();
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
      if (length > in.length - at) {
        failed = true;
        return NONE;
      }
      byte[] value = Arrays.copyOfRange(in, at, at + (int) length);
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
      if (at >= in.length) {
        failed = true;
        return 0;
      }
      return in[at++] & 0xFF;
    }
  }
}
