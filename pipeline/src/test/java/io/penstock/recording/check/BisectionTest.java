package io.penstock.recording.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.recording.check.Bisection.Found;
import io.penstock.recording.check.Bisection.Played;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// The first turn that breaks an invariant is found, in few plays, whatever the sizes of turns.
final class BisectionTest {
  /// Places between turns of a recording.
  private final NavigableSet<Long> places = new TreeSet<>();

  private BisectionTest() {
    Random random = new Random(7);
    for (long at = 0; at < 5000; at += 1 + random.nextInt(9)) {
      places.add(at);
    }
  }

  private Bisection bisection(long brokenFrom) {
    return new Bisection(events -> {
      long at = places.floor(events);
      Long next = places.higher(at);
      return new Played(at, next == null ? at : next, at < brokenFrom);
    });
  }

  @Test
  void eachTurn_isFoundInFewPlays() {
    double most = Math.log(places.last()) / Math.log(2) + 3;
    for (long place : places.tailSet(0L, false)) {
      Bisection bisection = bisection(place);

      assertThat(bisection.find()).contains(new Found(places.lower(place), place));
      assertThat((double) bisection.plays()).isLessThanOrEqualTo(most);
    }
  }

  @Test
  void anInvariantThatHolds_isFoundByOnePlay() {
    Bisection bisection = bisection(Long.MAX_VALUE);

    assertThat(bisection.find()).isEmpty();
    assertThat(bisection.plays()).isOne();
  }

  @Test
  void anInvariantThatNeverHeld_isRefused() {
    assertThatThrownBy(bisection(0)::find).isInstanceOf(Bisection.BrokenAtStartException.class)
        .hasMessageContaining("must hold before the first event");
  }
}
