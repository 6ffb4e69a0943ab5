package io.penstock.examples.jlama;

import com.github.tjake.jlama.safetensors.tokenizer.BPETokenizer;
import com.github.tjake.jlama.safetensors.tokenizer.TokenizerModel;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The bytes of each token. Jlama's own decoder keeps the bytes of a character in a buffer that all requests share, so
/// answers that are made side by side would mix.
final class Pieces {
  private static final Pattern BYTE = Pattern.compile("<0x([0-9A-Fa-f]{2})>");
  private static final int HEX = 16;
  private static final String MARK = "▁";

  private final TokenizerModel model;
  private final Map<Long, String> pieces;
  private final Map<Integer, Integer> alteredBytes;

  Pieces(TokenizerModel model) {
    this.model = model;
    this.pieces = model.vocabLookup.inverse();
    this.alteredBytes = BPETokenizer.alteredBytes.inverse();
  }

  /// @return UTF-8 of a part of a text, perhaps of a part of a character; empty for tokens without text
  byte[] bytes(int token) {
    @Nullable String piece = pieces.get((long) token);
    if (piece == null || model.isSpecialToken(piece)) {
      return new byte[0];
    }
    Matcher single = BYTE.matcher(piece);
    if (single.matches()) {
      return new byte[] {(byte) Integer.parseInt(single.group(1), HEX)};
    }
    return model.isLegacy() && !model.byteFallback
        ? unaltered(piece)
        : piece.replace(MARK, " ").getBytes(StandardCharsets.UTF_8);
  }

  /// GPT-2 writes each byte as a character, bytes that are none in ASCII as another one.
  private byte[] unaltered(String piece) {
    int[] letters = piece.codePoints().toArray();
    byte[] bytes = new byte[letters.length];
    for (int i = 0; i < letters.length; i++) {
      bytes[i] = alteredBytes.getOrDefault(letters[i], letters[i]).byteValue();
    }
    return bytes;
  }
}
