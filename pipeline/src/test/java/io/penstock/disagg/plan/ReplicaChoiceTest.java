package io.penstock.disagg.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ReplicaChoiceTest {
  /// Computed apart from this code, by the rule: with other numbers, nodes of two versions would disagree.
  private static final Integer[] CHOSEN = {1, 5, 3, 6};

  @Test
  void byRequest_isTheSameEverywhere() {
    List<Integer> chosen =
        IntStream.range(0, 4).mapToObj(k -> ReplicaChoice.byRequest("test").choose(k, 4, 8)).toList();
    assertThat(chosen).containsExactly(CHOSEN).doesNotHaveDuplicates();
  }

  @Test
  void byRequest_spreadsRequestsEvenly() {
    int requests = 4_000;
    int copies = 8;
    int[] first = new int[copies];
    int[] second = new int[copies];
    for (int i = 0; i < requests; i++) {
      ReplicaChoice choice = ReplicaChoice.byRequest("request-" + i);
      first[choice.choose(0, 2, copies)]++;
      second[choice.choose(1, 2, copies)]++;
    }
    assertThat(chiSquare(first, requests)).as("first reader").isLessThan(24.3); // 7 degrees, 0.1 %
    assertThat(chiSquare(second, requests)).as("second reader").isLessThan(24.3);
  }

  private static double chiSquare(int[] counts, int total) {
    double expected = (double) total / counts.length;
    return IntStream.of(counts).mapToDouble(count -> (count - expected) * (count - expected) / expected).sum();
  }

  @Test
  void moreReadersThanCopies_shareThem() {
    ReplicaChoice choice = ReplicaChoice.byRequest("r");
    int[] readers = new int[3];
    IntStream.range(0, 9).forEach(k -> readers[choice.choose(k, 9, 3)]++);
    assertThat(readers).containsExactly(3, 3, 3);
  }

  @Test
  void equalNumbers_meetOneToOne() {
    ReplicaChoice choice = ReplicaChoice.byRequest("r");
    assertThat(IntStream.range(0, 5).map(k -> choice.choose(k, 5, 5))).containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void byBatch_takesTurnsFromRequestToRequest() {
    assertThat(IntStream.range(0, 4).map(k -> ReplicaChoice.byBatch(1).choose(k, 4, 8))).containsExactly(4, 5, 6, 7);
    assertThat(IntStream.range(0, 4).map(k -> ReplicaChoice.byBatch(2).choose(k, 4, 8))).containsExactly(0, 1, 2, 3);
  }
}
