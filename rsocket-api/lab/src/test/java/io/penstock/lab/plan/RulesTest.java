package io.penstock.lab.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Run;
import io.penstock.lab.plan.HostRoutes.Host;
import io.penstock.lab.plan.ProxyInstances.Load;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The rules of engines, on small numbers.
final class RulesTest {
  private static List<Run> runs(List<Integer> source, List<Integer> destination, long from, long to, long length) {
    return ContiguousRuns.of(source, destination, from, to, length);
  }

  @Test
  void runs_goOnWhereBothSidesAdjoin() {
    assertThat(runs(List.of(1, 2, 3, 5, 6), List.of(10, 11, 12, 14, 15), 1, 1, 1))
        .containsExactly(new Run(0, 3), new Run(3, 5));
    assertThat(runs(List.of(1, 2), List.of(10, 11), 4096, 2048, 1024)).hasSize(2);
    assertThat(runs(List.of(0, 2, 4), List.of(1, 3, 5), 512, 512, 1024)).hasSize(1);
    assertThat(runs(List.of(), List.of(), 1, 1, 1)).isEmpty();
    assertThatThrownBy(() -> runs(List.of(1), List.of(), 1, 1, 1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void producers_offerThePromptFirst_thenItsWindow() {
    assertThat(ProducerBlocks.ofPrompt(List.of(10, 11, 12, 13, 14), 33, 16, 1)).containsExactly(10, 11, 12);
    assertThat(ProducerBlocks.ofPrompt(List.of(10, 11, 12), 65, 16, 4)).containsExactly(10, 11);
    List<Integer> prompt = ProducerBlocks.ofPrompt(List.of(0, 10, 11, 12, 13, 14), 64, 16, 1);
    assertThat(ProducerBlocks.ofWindow(prompt, 3)).containsExactly(10, 11, 12);
    assertThat(ProducerBlocks.ofWindow(List.of(0, 10), 2)).containsExactly(10);
  }

  @Test
  void chunks_sendWholeBlocks_andTheLastSendsTheRest() {
    assertThat(PrefillChunk.of(80, 32, 0, 16, false)).isEqualTo(new PrefillChunk(2, 5));
    assertThat(PrefillChunk.of(90, 80, 0, 16, false)).isEqualTo(new PrefillChunk(5, 5));
    assertThat(PrefillChunk.of(92, 80, 0, 16, true)).isEqualTo(new PrefillChunk(5, 6));
    KvRequest request = new KvRequest("r", 92, 40);
    assertThat(new PrefillChunk(0, 5).of(request, 16)).isEqualTo(new KvRequest("r", 80, 40));
    assertThat(new PrefillChunk(5, 6).of(request, 16)).isEqualTo(new KvRequest("r", 92, 80));
    assertThat(new PrefillChunk(0, 1).of(request, 16)).isEqualTo(new KvRequest("r", 16, 16));
  }

  @Test
  void headsOfSeveralPulls_areOrderedByToken() {
    HeadConcat concat = new HeadConcat(4, 3, 4, 1);
    assertThat(IntStream.range(0, concat.size()).map(concat::source)).containsExactly(0, 3, 6, 9, 1, 4, 7, 10, 2, 5,
        8, 11);
    HeadConcat wide = new HeadConcat(2, 2, 4, 2);
    assertThat(IntStream.range(0, 8).map(wide::source)).containsExactly(0, 1, 2, 3, 8, 9, 10, 11);
    assertThat(IntStream.range(0, wide.size()).map(wide::source).distinct().count()).isEqualTo(wide.size());
  }

  @Test
  void layers_takeTurnsInSlots() {
    LayerSlots slots = LayerSlots.of(6, 2, 1, List.of(0));
    assertThat(slots.slots()).containsExactly(List.of(0), List.of(1, 3, 5), List.of(2, 4));
    assertThat(slots.waitsFor()).isEqualTo(Map.of(3, 1, 4, 2, 5, 3));
    assertThat(LayerSlots.of(4, 9, 1, List.of(-1)).hasReuse()).isFalse();
    assertThat(LayerSlots.of(4, 9, 1, List.of(-1)).independent()).containsExactly(3);
    assertThatThrownBy(() -> LayerSlots.of(4, 2, 1, List.of(4)))
        .hasMessage("independent layer must be in [-4, 4) (was 4)");
  }

  @Test
  void ports_followEachOther_byReplicaStageContextAndTensorRank() {
    RankPorts ports = new RankPorts(20_000, new Parallelism(8, 1, 2, 2, 1));
    assertThat(ports.basePort(1)).isEqualTo(20_016);
    assertThat(ports.port(1, new Rank(0, 1, 5))).isEqualTo(20_029);
    assertThatThrownBy(() -> new RankPorts(65_530, Parallelism.ofTp(8)))
        .hasMessage("last port must be <= 65535 (was 65537)");
  }

  @Test
  void hosts_areFoundByEitherDistance() {
    Host other = new Host("default", "e");
    HostRoutes routes = new HostRoutes(Map.of(8, new Host("h8", "e8"), 15, new Host("h15", "e15")), 30_000, 30_008,
        other);
    assertThat(routes.route(30_015).name()).isEqualTo("h15");
    assertThat(routes.route(30_016).name()).isEqualTo("h8");
    assertThat(routes.route(30_017)).isEqualTo(other);
  }

  @Test
  void replicatedBlocks_followTheIdsOfBothSides() {
    assertThat(ReplicatedBlocks.of(List.of(10, 11), 2, List.of(19, 20), 2, 1, 3))
        .containsExactly(new ReplicatedBlocks(21, 39), new ReplicatedBlocks(22, 40));
    assertThat(ReplicatedBlocks.of(List.of(10), 2, List.of(19, 20), 1, 0, 5)).hasSize(2);
  }

  @Test
  void surplusReports_beginANewCount() {
    FinishedCounts counts = new FinishedCounts(2);
    assertThat(List.of("a", "b", "a", "a", "a").stream().map(counts::report))
        .containsExactly(false, false, true, false, true);
  }

  @Test
  void proxy_choosesTheLeastLoad_andLeavingOnesLast() {
    ProxyInstances instances = new ProxyInstances();
    assertThat(instances.next()).isEmpty();
    instances.add("a", Load.NONE);
    instances.add("b", Load.NONE);
    assertThat(instances.next()).contains("a");
    instances.charge("a", 0, 10);
    instances.charge("b", 2, 0);
    assertThat(instances.next()).contains("b"); // 3 against 2
    instances.leave("b");
    assertThat(instances.next()).contains("a");
    instances.charge("a", 0, -11);
    assertThat(instances.loads()).containsEntry("a", Load.NONE);
    instances.remove("a");
    assertThat(instances.next()).contains("b");
    assertThat(ProxyInstances.prefillScore(400)).isEqualTo(123.5245);
  }
}
