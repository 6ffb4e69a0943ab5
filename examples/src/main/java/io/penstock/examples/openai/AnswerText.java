package io.penstock.examples.openai;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// The text of an answer while its tokens arrive. It keeps back bytes that are no whole character yet, and characters
/// that may begin a stop.
final class AnswerText {
  private final List<String> stops;
  private final int longestStop;
  private final CharsetDecoder utf8 = StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPLACE);
  private final StringBuilder kept = new StringBuilder();
  private ByteBuffer bytes = ByteBuffer.allocate(64);
  private boolean stopped;

  /// @param stops texts that end the answer, and are not part of it
  AnswerText(List<String> stops) {
    this.stops = List.copyOf(stops);
    this.longestStop = stops.stream().mapToInt(String::length).max().orElse(0);
  }

  /// Takes the UTF-8 of the next token.
  ///
  /// @return the text that is certain now
  String add(byte[] token) {
    if (bytes.remaining() < token.length) {
      bytes = ByteBuffer.allocate(bytes.position() + token.length).put(bytes.flip());
    }
    decode(bytes.put(token).flip(), false);
    bytes.compact();
    return certain(Math.max(0, longestStop - 1));
  }

  /// @return the text that was kept back
  String end() {
    if (stopped) {
      return "";
    }
    decode(bytes.flip(), true);
    return certain(0);
  }

  /// Whether the text has reached a stop.
  boolean stopped() {
    return stopped;
  }

  private void decode(ByteBuffer from, boolean last) {
    CharBuffer chars = CharBuffer.allocate(from.remaining() + 1);
    utf8.decode(from, chars, last);
    kept.append(chars.flip());
  }

  private String certain(int keep) {
    int stop = stops.stream().mapToInt(kept::indexOf).filter(at -> at >= 0).min().orElse(-1);
    stopped = stop >= 0;
    int end = stopped ? stop : Math.max(0, kept.length() - possibleStop(keep));
    String text = kept.substring(0, end);
    kept.delete(0, end);
    return text;
  }

  /// Length of the longest end of the text that begins a stop.
  private int possibleStop(int longest) {
    for (int length = Math.min(longest, kept.length()); length > 0; length--) {
      String end = kept.substring(kept.length() - length);
      if (stops.stream().anyMatch(stop -> stop.startsWith(end))) {
        return length;
      }
    }
    return 0;
  }
}
