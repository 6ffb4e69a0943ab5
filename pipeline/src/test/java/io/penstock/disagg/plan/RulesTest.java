package io.penstock.disagg.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The rules that the planner goes by, on small numbers.
final class RulesTest {
  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      61 | 2 | [31, 30]
      94 | 4 | [23, 24, 24, 23]
      32 | 4 | [8, 8, 8, 8]
      2  | 4 | [0, 1, 1, 0]
      """)
  void stages_getEvenParts_andTheRestGoesBeforeTheLast(int layers, int stages, String parts) {
    assertThat(StageLayers.even(layers, stages)).hasToString(parts);
  }

  @Test
  void statedStages_mustAddUp() {
    assertThat(StageLayers.bounds(StageLayers.stated(List.of(33, 28), 61, 2))).containsExactly(0, 33, 61);
    assertThatThrownBy(() -> StageLayers.stated(List.of(61), 61, 2))
        .hasMessage("layers of stages must be 2 numbers, one a stage (was [61])");
    assertThatThrownBy(() -> StageLayers.stated(List.of(30, 30), 61, 2))
        .hasMessage("layers of stages must add up to 61 (was [30, 30])");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      4 | 2 | [0, 1] [2, 3]
      4 | 8 | [0] [0] [1] [1] [2] [2] [3] [3]
      3 | 2 | [0, 1] [1, 2]
      3 | 4 | [0] [0, 1] [1, 2] [2]
      1 | 3 | [0] [0] [0]
      """)
  void ranks_keepWhatTheirShareOfTheHeadsTouches(int heads, int tp, String expected) {
    HeadShards shards = new HeadShards(heads, tp, 1);
    assertThat(IntStream.range(0, tp)
        .mapToObj(rank -> IntStream.range(shards.first(rank), shards.end(rank)).boxed().toList().toString())
        .toList()).isEqualTo(List.of(expected.split(" (?=\\[)")));
  }

  @Test
  void decodeContext_mustDivideTheRanksWithEqualHeads() {
    assertThat(new HeadShards(4, 16, 2).copies(0)).isEqualTo(2);
    assertThatThrownBy(() -> new HeadShards(8, 8, 2)).isInstanceOfSatisfying(PlanRefusedException.class, refused -> {
      assertThat(refused.field()).isEqualTo("dcp");
      assertThat(refused.value()).isEqualTo(2);
      assertThat(refused.otherField()).isEqualTo("tp / kvHeads");
      assertThat(refused.otherValue()).isEqualTo("8 / 8");
    });
  }
}
