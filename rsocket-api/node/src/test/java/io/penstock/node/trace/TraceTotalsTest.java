package io.penstock.node.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class TraceTotalsTest {
  @Test
  void ceiling_isEveryReferenceButTheFirst_andTokensAreThoseOfThePrefix() {
    TraceTotals totals = new TraceTotals(512);

    totals.add(request(1_100, 1, 2, 3));
    totals.add(request(1_100, 1, 2, 4));
    totals.add(request(1_100, 1, 2, 3)); // whole, and its last block has 76 tokens
    totals.add(request(1_024, 9, 2)); // 2 is there, behind a block that is not

    assertThat(totals.references()).isEqualTo(11);
    assertThat(totals.distinctBlocks()).isEqualTo(5);
    assertThat(totals.ceilingHits()).isEqualTo(6);
    assertThat(totals.ceiling()).isEqualTo(6 / 11.0);
    assertThat(totals.prefixCeiling()).isEqualTo(5 / 11.0);
    assertThat(totals.reusableTokens()).isEqualTo(1_024 + 1_100);
    assertThat(totals.promptTokens()).isEqualTo(4_324);
    assertThat(totals.doubt()).isEmpty();
  }

  @Test
  @Timeout(20)
  void idsThatDifferInTheirUpperHalfAlone_costAsMuchAsOthers() {
    TraceTotals totals = new TraceTotals(512);
    for (long conversation = 0; conversation < 2_000; conversation++) {
      long first = conversation << 32;
      totals.add(request(51_200, LongStream.range(first, first + 100).toArray()));
    }

    assertThat(totals.distinctBlocks()).isEqualTo(200_000);
  }

  @Test
  void otherTokensABlock_areDoubted_shortPromptsAreNot() {
    TraceTotals sixteen = new TraceTotals(512);
    sixteen.add(request(6_758, LongStream.range(0, 423).toArray()));
    assertThat(sixteen.doubt()).contains("prompts of 6,758 tokens in 423 blocks are about 16 tokens a block, not 512:"
        + " --block-tokens states them");

    TraceTotals many = new TraceTotals(16);
    many.add(request(6_758, LongStream.range(0, 14).toArray()));
    assertThat(many.doubt()).isPresent();

    TraceTotals partial = new TraceTotals(512);
    partial.add(request(20, 1));
    partial.add(request(30, 2));
    assertThat(partial.doubt()).as("blocks that are not full").isEmpty();

    TraceTotals whole = new TraceTotals(512);
    whole.add(request(700, 1));
    whole.add(request(400));
    assertThat(whole.doubt()).as("full blocks alone").isEmpty();
    assertThat(new TraceTotals(512).doubt()).as("no request").isEmpty();
  }

  @Test
  void form_isKnownFromTheFirstRequest_whichIsNotLost() {
    TraceGenerator generator = new TraceGenerator(new GeneratorOptions(3, 1));
    TraceRequest first = new TraceGenerator(new GeneratorOptions(3, 1)).next();

    try (PeekedTrace trace = PeekedTrace.of(generator)) {
      assertThat(trace.blockTokens()).isEqualTo(512);
      assertThat(trace.next()).isEqualTo(first);
      assertThat(trace.next()).isNotNull();
      assertThat(trace.next()).isNotNull();
      assertThat(trace.next()).isNull();
    }
  }

  private static TraceRequest request(long tokens, long... ids) {
    return new TraceRequest(0, tokens, 1, LongStream.of(ids).boxed().toList());
  }

  @Test
  void requestWithoutBlocks_isCounted() {
    TraceTotals totals = new TraceTotals(16);
    totals.add(new TraceRequest(0, 5, 1, List.of()));

    assertThat(totals.requests()).isEqualTo(1);
    assertThat(totals.ceiling()).isZero();
  }
}
