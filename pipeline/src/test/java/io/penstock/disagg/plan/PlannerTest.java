package io.penstock.disagg.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PlannerTest {
  private static Manifest side(int heads, int blockTokens, Parallelism parallelism) {
    return Manifest.of("m", BlockLayout.attention(4, blockTokens, heads, 8, ElementType.BF16), parallelism);
  }

  private static TransferPlan plan(Manifest prefill, Manifest decode, int prompt, int cached) {
    return new Planner(prefill, decode).plan(new KvRequest("test", prompt, cached));
  }

  private static List<List<Integer>> sources(TransferPlan plan) {
    return plan.decode().parallelism().allRanks().stream().map(reader -> plan.senders(reader).stream()
        .map(plan.prefill().parallelism()::index).toList()).toList();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      4 | 2 | 4 | 1 | [[0, 1], [2, 3]]
      4 | 2 | 8 | 4 | [[0, 1, 4, 5, 8, 9, 12, 13], [2, 3, 6, 7, 10, 11, 14, 15]]
      4 | 4 | 4 | 4 | [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]
      2 | 4 | 4 | 1 | [[0], [0], [1], [1]]
      2 | 3 | 3 | 1 | [[0], [0], [1]]
      """)
  void decodeRanks_readFromTheKeepersOfTheirHeads(int prefillTp, int decodeTp, int heads, int stages,
      String expected) {
    TransferPlan plan = plan(side(heads, 16, Parallelism.ofTp(prefillTp).withPp(stages)),
        side(heads, 16, Parallelism.ofTp(decodeTp)), 16, 0);
    if (heads == 3) { // the head at the border has two copies, of which the request takes one
      assertThat(sources(plan).getFirst()).contains(0);
      assertThat(sources(plan).getLast()).contains(1);
    } else {
      assertThat(sources(plan)).hasToString(expected);
    }
  }

  @Test
  void completions_areOfRanksWithSomethingToSend() {
    TransferPlan plan = plan(side(1, 16, Parallelism.ofTp(8).withContext(4, 1)), side(1, 16, Parallelism.ofTp(8)), 128,
        96);
    plan.decode().parallelism().allRanks()
        .forEach(reader -> assertThat(plan.senders(reader)).as("%s", reader).hasSize(2));
    assertThat(plan.neverPulled()).hasSize(16);
    assertThat(plan.releaser()).isEqualTo(new Rank(0, 0, 0));
  }

  @Test
  void fullHit_movesNothing_andReleasesAll() {
    TransferPlan plan = plan(side(4, 16, Parallelism.ofTp(4)), side(4, 16, Parallelism.ofTp(2)), 40, 40);
    assertThat(plan.transfers()).isEmpty();
    assertThat(plan.neverPulled()).hasSize(4);
  }

  @Test
  void blocksOfOtherSizes_areCutAndJoined() {
    TransferPlan plan = plan(side(1, 128, Parallelism.ofTp(1)), side(1, 16, Parallelism.ofTp(1)), 150, 0);
    Transfer only = plan.transfers().getFirst();
    assertThat(only.pieces()).hasSize(10);
    assertThat(only.pieces().get(8)).isEqualTo(new TokenPiece(1, 0, 8, 0, 128, 16));
    assertThat(only.pieces().get(9)).isEqualTo(new TokenPiece(1, 16, 9, 0, 144, 6));
    assertThat(only.tokens()).isEqualTo(150);
  }

  @Test
  void wholeBlocksInARow_areOneRun() {
    TransferPlan plan = plan(side(1, 16, Parallelism.ofTp(1)), side(1, 16, Parallelism.ofTp(1)), 70, 16);
    assertThat(plan.transfers().getFirst().runs()).containsExactly(new Run(0, 3), new Run(3, 4));
  }

  @Test
  void theEndOfThePrompt_comesLast() {
    TransferPlan plan = plan(side(1, 16, Parallelism.ofTp(8).withContext(1, 8)), side(1, 16, Parallelism.ofTp(1)), 161,
        0);
    assertThat(plan.to(new Rank(0, 0, 0)).stream().map(transfer -> transfer.source().tp()))
        .containsExactly(0, 1, 3, 4, 5, 6, 7, 2);
  }

  @Test
  void contextRanksThatDoNotDivide_areExact() {
    TransferPlan plan = plan(side(1, 16, Parallelism.ofTp(6).withContext(1, 3)),
        side(1, 16, Parallelism.ofTp(2).withContext(1, 2)), 96, 0);
    assertThat(plan.to(new Rank(0, 0, 0)).stream().mapToInt(Transfer::tokens).sum()).isEqualTo(48);
    assertThat(plan.to(new Rank(0, 0, 1)).stream().mapToInt(Transfer::tokens).sum()).isEqualTo(48);
  }

  @Test
  void draftLayers_belongToTheLastStage() {
    Manifest side = Manifest.of("m", List.of(Manifest.Group.full(BlockLayout.attention(5, 16, 1, 8, ElementType.BF16))),
        Parallelism.ofTp(1).withPp(2), 1);
    assertThat(IntStream.rangeClosed(0, 2).map(stage -> side.firstLayer(0, stage))).containsExactly(0, 2, 5);
    assertThat(side.rankLayout(0, new Rank(1, 0, 0)).orElseThrow().layers()).isEqualTo(3);
  }

  @Test
  void sidesOfOtherModels_areRefused() {
    Manifest prefill = side(4, 16, Parallelism.ofTp(4));
    assertThatThrownBy(() -> new Planner(prefill, side(8, 16, Parallelism.ofTp(4))))
        .isInstanceOf(PlanRefusedException.class).hasMessage("groups[0].kvHeads must be equal on both sides "
            + "(was prefill.groups[0].kvHeads 4, decode.groups[0].kvHeads 8)");
    assertThatThrownBy(() -> new Planner(prefill,
        Manifest.of("n", BlockLayout.attention(4, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(1))))
        .hasMessage("model must be equal on both sides (was prefill.model m, decode.model n)");
    assertThatThrownBy(() -> new Planner(prefill,
        Manifest.of("m", BlockLayout.attention(4, 16, 4, 8, ElementType.INT8), Parallelism.ofTp(1))))
        .hasMessageContaining("planes[0].type");
    assertThatThrownBy(() -> new Planner(side(4, 16, Parallelism.ofTp(4).withContext(1, 2)), prefill))
        .hasMessage("dcp must divide tp / kvHeads, the ranks with equal heads "
            + "(was prefill.dcp 2, prefill.tp / kvHeads 4 / 4)");
  }
}
