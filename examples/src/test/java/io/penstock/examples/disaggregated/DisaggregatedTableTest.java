package io.penstock.examples.disaggregated;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.examples.disaggregated.DisaggregatedReport.Weights;
import io.penstock.examples.disaggregated.node.LayerTime;
import io.penstock.examples.disaggregated.node.LayerTime.What;
import io.penstock.examples.disaggregated.rank.SideReport;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class DisaggregatedTableTest {
  private static final SideReport SIDE = new SideReport(1, 1, 1, 1, 16, TokenOrder.NHD, ElementType.FP32);

  /// @param bad number of the request whose logits differ; -1 for none
  private static String table(int requests, int bad) {
    List<RequestReport> all = IntStream.range(0, requests).mapToObj(i -> new RequestReport("r" + i, 0, 0, "a", "a",
        i != bad, i == bad ? 3 : -1, 1, 0, 0, 2, 960, 1024, null,
        List.of(new LayerTime(What.COMPUTE, 0, 0, 1_000L * (i + 1)))))
        .toList();
    return DisaggregatedTable.of(new DisaggregatedReport("push", SIDE, SIDE, 1, 0,
        new Weights(4096, List.of(1024L, 2048L), List.of(4096L)), all));
  }

  @Test
  void fewRequests_areShownOneByOne() {
    assertThat(table(20, -1)).contains("r0:", "r19:", "layer 0  |",
        "1.00 KiB moved in blocks, 960 B of them tokens",
        "weights 4.00 KiB of the model; each rank loads its part: 2 ranks with at most 2.00 KiB of prefill, "
            + "1 rank with 4.00 KiB of decode")
        .doesNotContain("p99");
  }

  @Test
  void manyRequests_areSummedUp_andThoseThatDifferAreShown() {
    String text = table(100, 41);
    assertThat(text).contains("r41:", "differ, or are no numbers, from token 3 on", "100 requests, 200 tokens cached",
        "compute       p50 50.000 ms, p99 99.000 ms a layer", "of 1 request")
        .doesNotContain("r40:", "transfer      p50");
    assertThat(text.lines().count()).isLessThan(20);
    assertThat(table(100, -1)).contains("equal, bit for bit, of all requests").doesNotContain("r0:");
  }
}
