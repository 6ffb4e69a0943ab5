package io.penstock.wire.client.get;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ShortTurnsTest {
  private final ShortTurns turns = new ShortTurns();

  private int streams() {
    int streams = 0;
    while (!turns.isNext()) {
      streams++;
    }
    return streams;
  }

  @Test
  void gets_areShort_asLongAsTheNodeAnswersThem() {
    for (int i = 0; i < 100; i++) {
      assertThat(streams()).isZero();
      turns.answered();
    }
  }

  @Test
  void eachRefusalInARow_doublesTheStreamsThatFollow_toABound() {
    for (int streams : new int[] {1, 2, 4, 8, 16, 32, 64, 64, 64}) {
      turns.refused();
      assertThat(streams()).isEqualTo(streams);
    }
  }

  @Test
  void anAnswer_endsTheRow() {
    for (int i = 0; i < 5; i++) {
      turns.refused();
      streams();
    }
    turns.answered();
    turns.refused();
    assertThat(streams()).isEqualTo(1);
  }
}
