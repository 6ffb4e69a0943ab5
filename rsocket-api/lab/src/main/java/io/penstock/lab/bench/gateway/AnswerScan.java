package io.penstock.lab.bench.gateway;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.function.LongConsumer;

/// Counts the tokens of a streamed answer, however its bytes are cut, and reads the time that each token carries. For
/// one thread at a time.
final class AnswerScan {
  private final Pattern token;
  private final Pattern end;
  private int digits;
  private long time;
  private int tokens;
  private boolean ended;

  AnswerScan(String token, String end) {
    this.token = new Pattern(token);
    this.end = new Pattern(end);
  }

  /// Reads bytes of the answer.
  ///
  /// @param each receives the time of each token, [System#nanoTime()] of the engine
  void take(ByteBuf bytes, LongConsumer each) {
    bytes.forEachByte(value -> {
      if (digits > 0) {
        time = time << 4 | Character.digit(value, 16);
        if (--digits == 0) {
          tokens++;
          each.accept(time);
        }
      } else if (token.next(value)) {
        digits = BenchEngine.TIME_DIGITS;
      }
      ended |= end.next(value);
      return true;
    });
  }

  int tokens() {
    return tokens;
  }

  /// Whether the end of a whole answer came.
  boolean ended() {
    return ended;
  }

  /// Finds a text, byte by byte (Knuth, Morris and Pratt).
  private static final class Pattern {
    private final byte[] text;
    private final int[] shorter;
    private int matched;

    Pattern(String text) {
      this.text = text.getBytes(StandardCharsets.US_ASCII);
      this.shorter = new int[this.text.length];
      for (int i = 1, length = 0; i < this.text.length; i++) {
        while (length > 0 && this.text[i] != this.text[length]) {
          length = shorter[length - 1];
        }
        length += this.text[i] == this.text[length] ? 1 : 0;
        shorter[i] = length;
      }
    }

    /// Whether the text ends with this byte.
    boolean next(byte value) {
      while (matched > 0 && value != text[matched]) {
        matched = shorter[matched - 1];
      }
      if (value == text[matched]) {
        matched++;
      }
      if (matched == text.length) {
        matched = shorter[matched - 1];
        return true;
      }
      return false;
    }
  }
}
