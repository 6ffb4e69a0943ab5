package io.penstock.examples.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class AnswerTextTest {
  @Test
  void text_inAnyPieces_endsBeforeTheFirstStop() {
    Random random = new Random(7);
    for (int round = 0; round < 2_000; round++) {
      StringBuilder whole = new StringBuilder();
      for (int i = random.nextInt(20); i >= 0; i--) {
        whole.appendCodePoint(
            random.nextInt(4) == 0 ? "äŁ€\uD83D\uDE00".codePointAt(random.nextInt(3)) : 'a' + random.nextInt(3));
      }
      List<String> stops = List.of("ab", "cäc", "bbb").subList(0, random.nextInt(4));
      int end = stops.stream().mapToInt(whole::indexOf).filter(at -> at >= 0).min().orElse(whole.length());
      assertThat(inPieces(whole.toString(), stops, random)).isEqualTo(whole.substring(0, end));
    }
  }

  private static String inPieces(String whole, List<String> stops, Random random) {
    AnswerText text = new AnswerText(stops);
    StringBuilder out = new StringBuilder();
    byte[] bytes = whole.getBytes(StandardCharsets.UTF_8);
    for (int at = 0; at < bytes.length && !text.stopped();) {
      int length = Math.min(bytes.length - at, 1 + random.nextInt(3));
      out.append(text.add(java.util.Arrays.copyOfRange(bytes, at, at + length)));
      at += length;
    }
    return out.append(text.end()).toString();
  }
}
