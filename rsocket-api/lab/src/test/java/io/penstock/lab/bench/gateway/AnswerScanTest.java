package io.penstock.lab.bench.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class AnswerScanTest {
  @Test
  void tokensAndTheEnd_areFound_howeverTheBytesAreCut() {
    String answer = """
        data: {"choices":[{"delta":{"content":"~000000000000002a"}}]}

        data: {"choices":[{"delta":{"content":""}}]}

        data: {"choices":[{"delta":{"content":"~00000000000000ff"}}]}

        data: data: [DONE]

        """;
    for (int cut = 1; cut < 40; cut++) {
      AnswerScan scan = AnswerForm.CHAT.scan();
      List<Long> times = new ArrayList<>();
      for (int from = 0; from < answer.length(); from += cut) {
        String part = answer.substring(from, Math.min(answer.length(), from + cut));
        scan.take(Unpooled.copiedBuffer(part, StandardCharsets.US_ASCII), times::add);
        assertThat(scan.ended()).as("%d bytes", from + cut).isEqualTo(from + cut > answer.lastIndexOf(']'));
      }

      assertThat(times).as("cut %d", cut).containsExactly(42L, 255L);
      assertThat(scan.tokens()).isEqualTo(2);
    }
  }

  @Test
  void answerThatBreaksOff_hasNoEnd() {
    AnswerScan scan = AnswerForm.MESSAGES.scan();
    scan.take(Unpooled.copiedBuffer("event: error\ndata: {}\n\n", StandardCharsets.US_ASCII), time -> {});

    assertThat(scan.ended()).isFalse();
    assertThat(scan.tokens()).isZero();
  }
}
