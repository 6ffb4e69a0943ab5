package io.penstock.gateway.choice;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.choice.SessionPlaces.Place;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/// What a router remembers is bounded.
final class BoundsTest {
  private final BlockIndex index = new BlockIndex();

  private int expected(long... names) {
    return index.overlap(names, 1).on(0, Medium.EXPECTED);
  }

  @Test
  void expectedBlocks_areBounded_theLastOfAPromptGoesFirst() {
    ExpectedBlocks expected = new ExpectedBlocks(index, 0, 10, Long.MAX_VALUE);
    long[] first = LongStream.range(1, 9).toArray();
    expected.add(first, 0);
    assertThat(expected(first)).isEqualTo(8);
    long[] second = LongStream.range(101, 106).toArray();
    expected.add(second, 0);
    assertThat(index.size()).isEqualTo(10);
    assertThat(expected(second)).isEqualTo(5);
    assertThat(expected(first)).isEqualTo(5);
  }

  @Test
  void expectedBlocks_expire_unlessTheyAreExpectedAgain() {
    ExpectedBlocks expected = new ExpectedBlocks(index, 0, 100, 50);
    expected.add(new long[] {1, 2, 3}, 0);
    expected.add(new long[] {1, 2}, 30);
    expected.drop(49);
    assertThat(expected(1, 2, 3)).isEqualTo(3);
    expected.drop(50);
    assertThat(expected(1, 2, 3)).isEqualTo(2);
    expected.drop(80);
    assertThat(index.size()).isZero();
  }

  /// Time may be negative and pass zero, as that of a JVM does.
  @Test
  void expectedBlocks_neverExceedTheirBound_norOutliveTheirTime() {
    SplittableRandom random = new SplittableRandom(5);
    ExpectedBlocks expected = new ExpectedBlocks(index, 0, 64, 1000);
    long now = -20_000;
    for (int i = 0; i < 400; i++) {
      now += random.nextLong(200);
      long from = random.nextLong(1000);
      expected.add(LongStream.range(from, from + 1 + random.nextLong(40)).toArray(), now);
      assertThat(index.size()).isLessThanOrEqualTo(64);
    }
    assertThat(now).isPositive();
    expected.drop(now + 1000);
    assertThat(index.size()).isZero();
  }

  @Test
  void sessions_areBounded_theNewestStay() {
    SessionPlaces places = new SessionPlaces(3);
    for (int i = 0; i < 5; i++) {
      places.put("session " + i, new Place(i, i, 10));
      places.put("session 2", new Place(9, 8, 20 + i));
      assertThat(places.size()).isLessThanOrEqualTo(3);
    }
    assertThat(places.of("session 0")).isNull();
    assertThat(places.of("session 4")).isEqualTo(new Place(4, 4, 10));
    assertThat(places.of("session 2")).isEqualTo(new Place(9, 8, 24));
    assertThat(places.of(null)).isNull();
    places.put(null, new Place(1, 1, 1));
    places.forget(8);
    assertThat(places.of("session 2")).as("its decode has gone").isNull();
    assertThat(places.size()).isEqualTo(2);
  }
}
